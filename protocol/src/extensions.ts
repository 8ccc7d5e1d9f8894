// The extensions of the protocol. A relay lists its own in `GET /sdk/domain`, and a client uses only those.

/** EXTENSIONS are the extensions that this implementation knows, by their names in `GET /sdk/domain`. */
export const EXTENSIONS = [
  /** `/v1/sign` accepts `hello_retry_request` and `client_hello_retry`. */
  'hello_retry_request',
  /** `/v1/sign` signs SHA-384 transcripts. */
  'sha384',
  /** `/v1/sign` accepts a CompressedCertificate (RFC 8879) as `certificate`. */
  'certificate_compression',
  /** `POST /sdk/certificate` issues certificates for sites' own keys. */
  'site_certificate',
  /** The relay tells a site the addresses of its visitors. */
  'visitor_address',
  /** `GET /sdk/connect` accepts an upgrade to `yamux`: many reverse sessions on one native connection. */
  'native_yamux',
  /** The relay is in an overlay, and accepts routes over several relays: `POST /sdk/route` and `GET /sdk/route/relay`. */
  'hop_routes',
  /** The relay is in discovery, and returns a site's statement to relays that ask for the site: `POST /sdk/renew` accepts one. */
  'site_statement',
  /** `GET /go/<name>` of the root host leads to a site, or waits for it. */
  'go',
  /** The relay leads a site's own domains to it, and tells their states: `POST /sdk/domains`. */
  'custom_domains',
] as const

/** Extension is one of {@link EXTENSIONS}. */
export type Extension = (typeof EXTENSIONS)[number]
