// The `ExtensionType`s of RFC 8446 §4.2, and two of TLS 1.2 alone (RFC 8422 §5.1.2, RFC 7627 §5.1). Bundlers write numbers for them.

export const server_name = 0
export const supported_groups = 10
export const ec_point_formats = 11
export const signature_algorithms = 13
export const application_layer_protocol_negotiation = 16
export const padding = 21
export const extended_master_secret = 23
/** RFC 8879 §3. */
export const compress_certificate = 27
export const record_size_limit = 28
export const pre_shared_key = 41
export const early_data = 42
export const supported_versions = 43
export const cookie = 44
export const psk_key_exchange_modes = 45
export const key_share = 51
