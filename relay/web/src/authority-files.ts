// Where a relay on localhost has the certificate of its own certificate authority.

/** Paths by format. */
export const AUTHORITY_FILE = {
  pem: '/ca.pem',
  der: '/ca.der',
  p12: '/ca.p12',
  mobileconfig: '/ca.mobileconfig',
} as const
