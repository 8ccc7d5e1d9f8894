// Every path of the relay's API, and the headers and media types that belong to them.

export const PATH = {
  health: '/api/healthz',
  state: '/api/state',
  adminLogin: '/api/admin/auth/login',
  adminStatus: '/api/admin/auth/status',
  adminLogout: '/api/admin/auth/logout',
  policy: '/api/policy',
  policyState: '/api/policy/state',
  policyLeases: '/api/policy/leases',
  policyIps: '/api/policy/ips',
  domain: '/sdk/domain',
  registerChallenge: '/sdk/register/challenge',
  register: '/sdk/register',
  renew: '/sdk/renew',
  reverse: '/sdk/reverse',
  unregister: '/sdk/unregister',
  connect: '/sdk/connect',
  certificateChain: '/sdk/certificate-chain',
  sign: '/v1/sign',
} as const

export const HEADER = {
  /** Lease access token: `/v1/sign` and `/sdk/cache`. */
  accessToken: 'X-Svc-Access-Token',
  /** Reverse capability of a native client on `/sdk/connect`. */
  reverseCapability: 'X-Svc-Reverse-Capability',
} as const

/** Media type of `GET /sdk/certificate-chain`. */
export const PEM_MEDIA_TYPE = 'application/x-pem-file'
