// Lists the administration's routes that take its token, written out: a test notices a route that a table forgets.

export const ADMIN_ROUTES: [method: string, path: string][] = [
  ['GET', '/api/policy'],
  ['POST', '/api/policy'],
  ['GET', '/api/policy/state'],
  ['GET', '/api/policy/lease'],
  ['POST', '/api/policy/leases'],
  ['POST', '/api/policy/leases/bulk'],
  ['POST', '/api/policy/ips'],
  ['POST', '/api/policy/relays'],
  ['GET', '/api/policy/decisions'],
  ['GET', '/api/policy/changes'],
  ['GET', '/api/policy/audit'],
  ['GET', '/api/admin/load'],
  ['GET', '/api/admin/certificates'],
  ['POST', '/api/admin/auth/logout'],
]
