// Whether CAA records leave a domain to the site's own ACME account alone (RFC 8659, RFC 8657).

/** CaaAnswer is what a resolver knows about the CAA records of one name. */
export interface CaaAnswer {
  /** True when the name is an alias (CNAME): then the records are those of its target. */
  isAlias: boolean
  /** The `issue` properties, such as `ca.example; accounturi=https://…`. Undefined when the name has no CAA records at all. */
  issue: readonly string[] | undefined
}

/** AskCaa asks for the CAA records of a name. Rejects when no resolver answers. */
export type AskCaa = (name: string, signal: AbortSignal) => Promise<CaaAnswer>

/** An AcmeIdentity is how CAA records name an account at an authority. */
export interface AcmeIdentity {
  /** The URL of the account. */
  account: string
  /** The domains of the authority. */
  authorities: readonly string[]
}

/** Returns the value of the record that protects a domain. */
export function caaValue({ account, authorities }: AcmeIdentity): string | undefined {
  const [authority] = authorities
  return authority && `0 issue "${authority}; accounturi=${account}; validationmethods=tls-alpn-01"`
}

/**
 * Resolves with why a domain is not protected, or with undefined when it is.
 * @throws what `ask` rejects with
 */
export async function whyUnprotected(
  domain: string,
  identity: AcmeIdentity,
  ask: AskCaa,
  signal: AbortSignal,
): Promise<string | undefined> {
  const labels = domain.split('.')
  // An authority climbs to the first name with CAA records (RFC 8659 §3).
  for (let at = 0; at < labels.length; at++) {
    const name = labels.slice(at).join('.')
    const { isAlias, issue } = await ask(name, signal)
    if (isAlias && at === 0)
      return `${domain} is an alias (CNAME), so the CAA records of its target count, which the relay sets: only a domain with address records can be protected`
    if (issue !== undefined) return whyOpen(name, issue, identity)
  }
  return `${domain} has no CAA record: any authority may issue for it`
}

function whyOpen(
  name: string,
  issue: readonly string[],
  { account, authorities }: AcmeIdentity,
): string | undefined {
  const allowed = issue.map(parseIssue).filter(({ authority }) => authority !== '')
  if (issue.length === 0) return `the CAA records of ${name} have no issue property: any authority may issue`
  const other = allowed.find((one) => one.accountUri !== account)
  if (other)
    return other.accountUri === undefined
      ? `a CAA record of ${name} lets every account at ${other.authority} issue: it needs accounturi=${account}`
      : `a CAA record of ${name} lets another account issue: ${other.accountUri}`
  // Another authority may not know the parameter, and ignores it (RFC 8657 §3).
  const foreign = allowed.find(({ authority }) => !authorities.includes(authority))
  if (foreign) return `a CAA record of ${name} lets another authority issue: ${foreign.authority}`
  return allowed.length > 0
    ? undefined
    : `no CAA record of ${name} lets this site's own authority issue (${authorities.join(', ')})`
}

interface Issue {
  /** Empty when nobody may issue. */
  authority: string
  accountUri: string | undefined
}

/** Parses `issuer-domain-name *( ";" tag "=" value )` (RFC 8659 §4.2). */
function parseIssue(value: string): Issue {
  const [authority = '', ...parameters] = value.split(';').map((part) => part.trim())
  const uris = parameters.filter((one) => /^accounturi\s*=/i.test(one))
  // Two of them match no account (RFC 8657 §3).
  const [uri] = uris.length === 1 ? uris : []
  return { authority: authority.toLowerCase(), accountUri: uri?.slice(uri.indexOf('=') + 1).trim() }
}
