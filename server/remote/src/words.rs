//! Words of errors that depend on the kind of storage.

/// The words for one kind of storage.
pub struct Words {
    /// The name of the thing that contains objects.
    pub bucket: &'static str,
    /// Settings that decide where it is looked for, as the end of a sentence.
    pub place: &'static str,
    /// The variables with credentials.
    pub credentials: &'static str,
    /// The variable for access without credentials.
    pub public: &'static str,
    /// The rights that are needed.
    pub rights: &'static str,
    /// Settings to check if the server cannot be reached, as the end of a sentence.
    pub reach: &'static str,
    /// A longer time limit of a request.
    pub timeout: &'static str,
    /// How to do without conditional puts, as the end of a sentence.
    pub conditions: &'static str,
    /// How the names of all variables begin.
    pub variables: &'static str,
}

/// The words for the storage with a URL.
pub fn of(name: &str) -> Words {
    let scheme = name.split("://").next().unwrap_or_default();
    match scheme {
        "gs" => Words {
            bucket: "bucket",
            place: " and the project of the credentials",
            credentials: "GOOGLE_SERVICE_ACCOUNT or GOOGLE_APPLICATION_CREDENTIALS",
            public: "GOOGLE_SKIP_SIGNATURE=true",
            rights: "list and read objects, and, to write, to create and delete them \
                     (roles/storage.objectUser)",
            reach: "; check the network",
            timeout: "GOOGLE_TIMEOUT=120s",
            conditions: "",
            variables: "GOOGLE_",
        },
        "az" | "adl" | "azure" | "abfs" | "abfss" => Words {
            bucket: "container",
            place: " and AZURE_STORAGE_ACCOUNT_NAME",
            credentials: "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY, or the \
                          variables of another kind of credentials",
            public: "AZURE_SKIP_SIGNATURE=true",
            rights: "list and read blobs, and, to write, to create and delete them (Storage Blob \
                     Data Contributor)",
            reach: "; check AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ENDPOINT and the network",
            timeout: "AZURE_TIMEOUT=120s",
            conditions: "",
            variables: "AZURE_",
        },
        "file" => Words {
            bucket: "folder",
            place: "",
            credentials: "the permissions of the folder",
            public: "nothing",
            rights: "read the folder, and, to write, to change it",
            reach: "",
            timeout: "a faster disk",
            conditions: "",
            variables: "",
        },
        _ => Words {
            bucket: "bucket",
            place: ", AWS_REGION and AWS_ENDPOINT_URL",
            credentials: "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or \
                          AWS_PROFILE",
            public: "AWS_SKIP_SIGNATURE=true",
            rights: "s3:ListBucket and s3:GetObject, and, to write, s3:PutObject, \
                     s3:DeleteObject and s3:AbortMultipartUpload",
            reach: "; check AWS_ENDPOINT_URL and the network",
            timeout: "AWS_TIMEOUT=120s",
            conditions: ". If it has no conditional puts, set AWS_CONDITIONAL_PUT=disabled; then, \
                         of several processes that write the same trace at the same time, the \
                         last one wins, and files of the others stay until `tracesql-full gc` \
                         removes them",
            variables: "AWS_",
        },
    }
}
