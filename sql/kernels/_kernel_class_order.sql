-- Classes of device activities in their order of precedence for times that several classes share:
-- computation, then communication, then copies.
-- @scope store by class
SELECT
    rank, class,
    CASE WHEN class IN ('communication', 'memcpy') THEN class ELSE 'computation' END AS part
FROM (VALUES
    (0, 'gemm'), (1, 'conv'), (2, 'attention'), (3, 'moe_routing'), (4, 'normalization'),
    (5, 'softmax'),
    (6, 'elementwise'), (7, 'reduction'), (8, 'copy_layout'), (9, 'embedding'), (10, 'optimizer'),
    (11, 'quantize'),
    (12, 'sort_scan'), (13, 'sampling'), (14, 'rng'), (15, 'recurrent_ssm'), (16, 'fft'),
    (17, 'other_compute'),
    (18, 'unclassified'), (19, 'memset'), (20, 'communication'), (21, 'memcpy')
) AS t(rank, class)
