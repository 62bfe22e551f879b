-- A regular expression for the beginning of each kernel name, up to the template arguments or
-- parameters, without control characters.
-- @scope store by name
WITH heads AS (
    SELECT
        name,
        plain_name(name) AS plain_name,
        regexp_replace(plain_name(name), '(?s)[<(].*$', '') AS head
    FROM (SELECT DISTINCT name FROM kernels WHERE name IS NOT NULL AND kind = 'kernel')
),
-- If a name begins with a bracket, its beginning is the whole name. 200 characters are enough to
-- distinguish names, and still readable.
cuts AS (
    SELECT
        name, plain_name,
        left(CASE WHEN head = '' THEN plain_name ELSE head END, 200) AS beginning,
        head <> '' AND character_length(head) <= 200 AS is_whole
    FROM heads
)
SELECT
    name, plain_name,
    concat(
        -- Control characters, and characters with a special meaning in regular expressions.
        replace(
            replace(
                replace(
                    regexp_replace(beginning, '([\\.+*?()|\[\]{}^$#&~-])', '\$1', 'g'),
                    chr(10), '\n'
                ),
                chr(13), '\r'
            ),
            chr(9), '\t'
        ),
        CASE WHEN is_whole THEN '(<|\(|$)' ELSE '' END) AS beginning_pattern
FROM cuts
