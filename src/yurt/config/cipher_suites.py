"""The cipher suites that a configuration may choose from."""

# Go's names of what TLS 1.2 may use, as configuration files write them, and OpenSSL's for the same.
# TLS 1.3 has no choice to make.
CIPHER_SUITES = {
    f"TLS_ECDHE_{key}_WITH_{go_name}": f"ECDHE-{key}-{openssl_name}"
    for key in ("RSA", "ECDSA")
    for go_name, openssl_name in (
        ("AES_128_GCM_SHA256", "AES128-GCM-SHA256"),
        ("AES_256_GCM_SHA384", "AES256-GCM-SHA384"),
        ("CHACHA20_POLY1305", "CHACHA20-POLY1305"),
        ("CHACHA20_POLY1305_SHA256", "CHACHA20-POLY1305"),
        ("AES_128_CBC_SHA", "AES128-SHA"),
        ("AES_128_CBC_SHA256", "AES128-SHA256"),
        ("AES_256_CBC_SHA", "AES256-SHA"),
    )
}
