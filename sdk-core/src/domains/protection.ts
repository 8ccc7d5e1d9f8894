// Whether CAA records leave a domain to the site's own ACME account alone (RFC 8659, RFC 8657).

/** CaaAnswer is what a resolver knows about the CAA records of one name. */
export interface CaaAnswer {
  /** True when the name is an alias (CNAME): then the records are those of its target. */
  isAlias: boolean
  /** The `issue` properties, such as `ca.example; accounturi=https://…`. Undefined when the name has no CAA records at all. */
  issue: readonly string[] | undefined
  /** Tags of critical properties that RFC 8659 does not have: authorities that do not know them issue for nobody. @default none */
  critical?: readonly string[] | undefined
}

/** CaaProperty is one CAA record (RFC 8659 §4.1). */
export interface CaaProperty {
  flags: number
  tag: string
  value: string
}

/** The flag of a property that an authority has to know (RFC 8659 §4.1). */
const CRITICAL = 0x80
const KNOWN_TAGS = ['issue', 'issuewild', 'iodef']
const METHOD = 'tls-alpn-01'

/**
 * Returns what the records of one name say. Those for wildcards (`issuewild`) decide about no domain of a site.
 * @param properties undefined when there are none
 */
export function caaAnswer(isAlias: boolean, properties: readonly CaaProperty[] | undefined): CaaAnswer {
  // The case of a tag means nothing.
  const given = properties?.map((one) => ({ ...one, tag: one.tag.toLowerCase() }))
  const issue = given?.filter(({ tag }) => tag === 'issue').map(({ value }) => value)
  const critical = given
    ?.filter(({ flags, tag }) => (flags & CRITICAL) !== 0 && !KNOWN_TAGS.includes(tag))
    .map(({ tag }) => tag)
  return { isAlias, issue, critical: critical?.length ? critical : undefined }
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
  return authority && `0 issue "${authority}; accounturi=${account}; validationmethods=${METHOD}"`
}

/** Returns the account that a value of {@link caaValue} names. */
export function caaAccount(issue: string): AcmeIdentity {
  const { authority, account = '' } = parseIssue(issue)
  return { account, authorities: [authority] }
}

/**
 * Resolves with why a domain is not protected, or with undefined when it is.
 * @param own the accounts of the site
 * @throws what `ask` rejects with
 */
export async function whyUnprotected(
  domain: string,
  own: AcmeIdentity | readonly AcmeIdentity[],
  ask: AskCaa,
  signal: AbortSignal,
): Promise<string | undefined> {
  const labels = domain.split('.')
  // An authority climbs to the first name with CAA records (RFC 8659 §3).
  for (let at = 0; at < labels.length; at++) {
    const name = labels.slice(at).join('.')
    const answer = await ask(name, signal)
    if (answer.isAlias)
      return at === 0
        ? `${domain} is an alias (CNAME), so the CAA records of its target count, which the relay sets: only a domain with address records can be protected`
        : `${name} is an alias (CNAME), so the CAA records of its target count: ${domain} needs a record of its own`
    if (answer.issue !== undefined) return caaProblem(name, answer, own)
  }
  return `${domain} has no CAA record: any authority may issue for it`
}

/**
 * Returns why the records of a name do not leave it to the site's own accounts; undefined when they do. They need no `validationmethods`:
 * with `accounturi` alone, an authority takes no order of another account, by whatever method its owner could prove the domain, and so
 * nobody without the account's key can use `http-01` or `dns-01` (RFC 8657 §3). Methods that the records do name must have the site's.
 */
export function caaProblem(
  name: string,
  { issue = [], critical = [] }: CaaAnswer,
  own: AcmeIdentity | readonly AcmeIdentity[],
): string | undefined {
  const accounts = [own].flat() as AcmeIdentity[]
  const [unknown] = critical
  if (unknown !== undefined)
    return `${name} has a critical CAA record with the tag ${unknown}: no authority that does not know it may issue`
  if (issue.length === 0) return `the CAA records of ${name} have no issue property: any authority may issue`
  const allowed = issue.map(parseIssue).filter(({ authority }) => authority !== '')
  const other = allowed.find(({ account }) => !accounts.some((one) => one.account === account))
  if (other)
    return other.account === undefined
      ? `a CAA record of ${name} lets every account at ${other.authority} issue: it needs accounturi=${accounts[0]?.account}`
      : `a CAA record of ${name} lets another account issue: ${other.account}`
  // Another authority may not know the parameter, and ignores it (RFC 8657 §3).
  const isOwn = (one: Issue): boolean =>
    accounts.some(
      ({ account, authorities }) => account === one.account && authorities.includes(one.authority),
    )
  const foreign = allowed.find((one) => !isOwn(one))
  if (foreign) return `a CAA record of ${name} lets another authority issue: ${foreign.authority}`
  if (allowed.some(({ isByHandshake }) => isByHandshake)) return undefined
  const authorities = accounts.flatMap((one) => one.authorities).join(', ')
  return allowed.length === 0
    ? `no CAA record of ${name} lets this site's own authority issue (${authorities})`
    : `no CAA record of ${name} lets this site's own account prove the domain as it does: it needs validationmethods=${METHOD}`
}

interface Issue {
  /** Empty when nobody may issue. */
  authority: string
  account: string | undefined
  /** Whether the account may prove the domain by `tls-alpn-01` (RFC 8657 §4). */
  isByHandshake: boolean
}

/** Parses `issuer-domain-name *( ";" tag "=" value )` (RFC 8659 §4.2). */
function parseIssue(value: string): Issue {
  const [authority = '', ...parameters] = value.split(';').map((part) => part.trim())
  const valuesOf = (tag: string): string[] =>
    parameters
      .map((one) => one.split('='))
      .filter(([name = '']) => name.trim().toLowerCase() === tag)
      .map(([, ...rest]) => rest.join('=').trim())
  const [accounts, methods] = [valuesOf('accounturi'), valuesOf('validationmethods')]
  return {
    authority: authority.toLowerCase(),
    // Two of them match no account (RFC 8657 §3).
    account: accounts.length === 1 ? accounts[0] : undefined,
    isByHandshake: methods.every((list) =>
      list.split(',').some((one) => one.trim().toLowerCase() === METHOD),
    ),
  }
}
