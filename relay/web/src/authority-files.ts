// Paths of the certificate of a relay's development CA.

/** Paths by format. */
export const AUTHORITY_FILE = {
  pem: '/ca.pem',
  der: '/ca.der',
  p12: '/ca.p12',
  mobileconfig: '/ca.mobileconfig',
} as const
