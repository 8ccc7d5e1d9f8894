// Lists the names that no site gets by default, since visitors would take such a site for the operator's.

/** Names that the operator reserves. */
export const RESERVED_NAMES_MAX = 1000

/** Reserved names of a new policy, by reason. */
const NAMES = {
  operator:
    'admin administrator root relay svc status dashboard console login signin signup register auth oauth sso account accounts billing pay payment payments secure security support help',
  // RFC 2142
  mailboxes: 'abuse hostmaster info noc postmaster webmaster',
  services:
    'www api ns ns1 ns2 ns3 ns4 dns mail email webmail smtp imap pop pop3 mx mta-sts ftp sftp ssh vpn proxy',
  // Programs look up these names automatically.
  lookedUpBySoftware: 'autoconfig autodiscover isatap localhost wpad',
}

export const DEFAULT_RESERVED_NAMES: readonly string[] = Object.values(NAMES).flatMap((names) =>
  names.split(' '),
)
