// Names that no site gets unless the operator takes them from the list: a visitor would take them for the relay's own.

/** Names by what they are taken for, with which a policy begins. */
const NAMES = {
  ofTheOperator:
    'admin administrator root relay svc status dashboard console login signin signup register auth oauth sso account accounts billing pay payment payments secure security support help',
  // RFC 2142
  mailboxes: 'abuse hostmaster info noc postmaster webmaster',
  services:
    'www api ns ns1 ns2 ns3 ns4 dns mail email webmail smtp imap pop pop3 mx mta-sts ftp sftp ssh vpn proxy',
  // Looked up by clients on their own.
  foundBySoftware: 'autoconfig autodiscover isatap localhost wpad',
}

export const DEFAULT_RESERVED_NAMES: readonly string[] = Object.values(NAMES).flatMap((names) =>
  names.split(' '),
)
