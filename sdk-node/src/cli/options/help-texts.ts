// The examples below the help of `svc` and of its commands, and its exit codes: lines of at most 80 columns.

export const EXAMPLES = {
  svc: `
Examples:
  svc demo --relay https://relay.example       a page to try it
  svc config set relay https://relay.example   remembers it for all commands
  svc expose 3000 --name demo                  https://demo.relay.example
  svc serve ./folder --listing                 the files of a folder
  svc start                                    all tunnels of svc.toml
  svc expose --help                            all that expose can do

Exit codes:
  0 ended when asked to, 1 unforeseen, 2 wrong usage,
  3 relay unreachable or not trusted, 4 refused by the relay,
  5 incompatible relay, 6 broken identity,
  7 ended by the relay while it was online,
  8 a certificate or a record is not what it should be (doctor, domain)`,
  expose: `
Examples:
  svc expose 3000 --relay https://relay.example --name demo
  svc expose 3000 --route /api=3001 --route /docs=./site
  svc expose https://localhost:8443 --target-ca ca.pem
  svc expose --tcp 25565 --udp 19132
  svc expose 3000 --allow-wallet 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed
  svc expose 3000 --password file:password.txt --expires 2h
  svc expose 3000 --listed --description "Our new page" --tag preview
  svc expose 3000 --cors https://app.example --header "X-Frame-Options: DENY"
  svc expose 3000 --json`,
  knock: `
Examples:
  svc expose 3000 --knock
  svc knock list
  svc knock admit 4821
  svc knock refuse 4821 --always`,
  share: `
Examples:
  svc share demo --expires 2h --note "for Bob"
  svc share --once --path /report.html
  svc share --list
  svc share --withdraw 1a2b3c4d`,
  serve: `
Examples:
  svc serve ./folder --listing
  svc serve ./dist --spa --name demo --relay https://relay.example
  svc serve ./dist --cache --cache-ttl 3600`,
  record: `
Examples:
  svc record 3000 session.har --name demo
  svc replay session.har`,
  replay: `
Example:
  svc replay session.har --name demo`,
  demo: `
Example:
  svc demo --relay https://relay.example

Without a relay: npm start in a checkout runs one on this machine.`,
  start: `
Examples:
  svc config init
  svc start
  svc start --config ~/tunnels.toml`,
  relays: `
Examples:
  svc relays
  svc relays --relay https://relay.example --discover`,
  doctor: `
Example:
  svc doctor --name demo`,
  domain: `
Examples:
  svc domain records shop.example.org --name demo
  svc domain check shop.example.org --name demo
  svc domain set shop.example.org --name demo --provider cloudflare
  svc domain set shop.example.org --provider exec:/usr/local/bin/dns --yes

A provider's credentials come from the environment, such as CLOUDFLARE_TOKEN.`,
  webhook: `
Examples:
  svc webhook list
  svc webhook send github push --to http://localhost:3000/ --secret env:S
  svc webhook send stripe --to /hook --secret file:stripe.txt`,
  config: `
Examples:
  svc config set relay https://relay.example
  svc config set ca ./ca.pem
  svc config list
  svc config unset ca
  svc config init`,
  completion: `
Examples:
  svc completion bash        source <(svc completion bash), in ~/.bashrc
  svc completion zsh         source <(svc completion zsh), in ~/.zshrc
  svc completion fish        svc completion fish | source, in config.fish
  svc completion powershell  … | Out-String | Invoke-Expression, in $PROFILE`,
  agent: `
Examples:
  svc agent run
  svc agent open
  svc agent logs --lines 50
  svc agent install`,
} as const
