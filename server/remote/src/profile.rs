//! Reads credentials of AWS from `~/.aws/credentials` and `~/.aws/config`, as other tools do.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A profile of AWS: its settings by their names.
pub type Profile = BTreeMap<String, String>;

/// The profile that `AWS_PROFILE` names, or the default one. Fails if a named one does not exist.
pub fn chosen() -> Result<Profile, String> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let named = set("AWS_PROFILE").or_else(|| set("AWS_DEFAULT_PROFILE"));
    let name = named.as_deref().unwrap_or("default");
    let home = std::env::home_dir().unwrap_or_default().join(".aws");
    let place =
        |variable: &str, file: &str| set(variable).map_or_else(|| home.join(file), PathBuf::from);
    let config = place("AWS_CONFIG_FILE", "config");
    let credentials = place("AWS_SHARED_CREDENTIALS_FILE", "credentials");
    let mut profile = section(&config, name).unwrap_or_default();
    profile.extend(section(&credentials, name).unwrap_or_default());
    if profile.is_empty() && named.is_some() {
        return Err(format!(
            "AWS_PROFILE is {name:?}, but neither {} nor {} has this profile",
            credentials.display(),
            config.display()
        ));
    }
    Ok(profile)
}

/// The settings in a section of a file; `None` if the file or the section does not exist.
fn section(file: &Path, name: &str) -> Option<Profile> {
    parse(&std::fs::read_to_string(file).ok()?, name)
}

fn parse(text: &str, name: &str) -> Option<Profile> {
    let (mut found, mut is_inside) = (None, false);
    for line in text.lines() {
        // Indented lines belong to a nested setting.
        let is_nested = line.starts_with([' ', '\t']);
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[').and_then(|l| l.split(']').next()) {
            let header = header.trim();
            let header = header.strip_prefix("profile ").map_or(header, str::trim);
            is_inside = header == name;
            if is_inside {
                found.get_or_insert_with(Profile::new);
            }
        } else if is_inside
            && !is_nested
            && !line.starts_with(['#', ';'])
            && let Some((key, value)) = line.split_once('=')
            && let Some(found) = &mut found
        {
            found.insert(key.trim().to_lowercase(), value.trim().to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_one_section_of_the_file() {
        let text = "[default]\naws_access_key_id = a\n# aws_access_key_id = b\n\n\
                    [profile lab]\nregion=eu-west-1\ns3 =\n  region = nested\nendpoint_url = http://x\n";
        let of = |name| parse(text, name);
        assert_eq!(of("default").expect("there")["aws_access_key_id"], "a");
        let lab = of("lab").expect("there");
        assert_eq!(
            (lab["region"].as_str(), lab["endpoint_url"].as_str()),
            ("eu-west-1", "http://x")
        );
        assert!(of("other").is_none());
    }
}
