// The routes of the administration that take its token, written out: one that a table forgets is missed here.

export const ADMIN_ROUTES: [method: string, path: string][] = [
  ['GET', '/api/policy'],
  ['POST', '/api/policy'],
  ['GET', '/api/policy/state'],
  ['POST', '/api/policy/leases'],
  ['POST', '/api/policy/ips'],
  ['GET', '/api/policy/decisions'],
  ['GET', '/api/policy/changes'],
  ['GET', '/api/admin/load'],
  ['POST', '/api/admin/auth/logout'],
]
