// A host and its port as in URLs, header fields and configuration files (RFC 3986 §3.2).

/** @returns `host:port`, with brackets around an IPv6 address. @param host a name or an address without brackets */
export function hostPort(host: string, port: number | string): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
