// The extensions of the protocol. A relay lists its own in `GET /sdk/domain`, and a client uses only those.

/** EXTENSIONS are the extensions that this implementation knows, in the words of `GET /sdk/domain`. A relay lists its own. */
export const EXTENSIONS = [
  /** `/v1/sign` takes `hello_retry_request` and `client_hello_retry`. */
  'hello_retry_request',
  /** `/v1/sign` signs transcripts under SHA-384. */
  'sha384',
  /** `/v1/sign` takes a CompressedCertificate (RFC 8879) for `certificate`. */
  'certificate_compression',
  /** `POST /sdk/certificate` issues certificates for keys of sites. */
  'site_certificate',
  /** The relay tells a site the addresses of its visitors. */
  'visitor_address',
  /** `GET /sdk/connect` takes an upgrade to `yamux`: many reverse sessions on one native connection. */
  'native_yamux',
  /** The relay is in an overlay, and takes routes over several relays: `POST /sdk/route` and `GET /sdk/route/relay`. */
  'hop_routes',
  /** The relay is in discovery, and gives the site's statement to relays that ask for the site: `POST /sdk/renew` takes one. */
  'site_statement',
] as const

/** Extension is one of {@link EXTENSIONS}. */
export type Extension = (typeof EXTENSIONS)[number]
