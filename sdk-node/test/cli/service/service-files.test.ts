// The files that make the agent a service, to the character, and paths that each notation has to quote.

import { describe, expect, it } from 'vitest'
import { type Machine, planInstallation } from '../../../src/cli/service/installation-plan.ts'
import type { Service } from '../../../src/cli/service/service.ts'

const SERVICE: Service = {
  command: [
    '/usr/bin/node',
    '/opt/svc/main.js',
    'agent',
    'run',
    '--foreground',
    '--config',
    '/home/a/svc.toml',
  ],
  environment: {},
  writable: ['/home/a', '/srv/b'],
  account: undefined,
}
/** Everything that one of the notations takes for more than itself. */
const ODD = '/srv/a b/100%h $HOME $X "q" \'s\' \\n ;#<&>é'
const ODD_SERVICE: Service = { ...SERVICE, command: [ODD, 'run', ODD], environment: { NAME: ODD } }

const LINUX: Machine = { platform: 'linux', env: {}, home: '/home/a', user: 'a', uid: 1000 }
const MAC: Machine = { platform: 'darwin', env: {}, home: '/Users/a', user: 'a', uid: 501 }
const WINDOWS: Machine = {
  platform: 'win32',
  env: { TEMP: 'C:\\Temp', USERDOMAIN: 'PC' },
  home: 'C:\\Users\\a',
  user: 'a',
  uid: undefined,
}

describe('systemd', () => {
  it('gets a unit of the user, which stays when the user logs out', () => {
    const plan = planInstallation(SERVICE, LINUX)
    expect(plan.path).toBe('/home/a/.config/systemd/user/svc-agent.service')
    expect(plan.text).toBe(`# Written by svc agent install; svc agent uninstall removes it.
[Unit]
Description=svc agent, which publishes the tunnels of svc.toml

[Service]
Type=exec
# The colon: no variable is put in for what follows a dollar sign.
ExecStart=":/usr/bin/node" "/opt/svc/main.js" "agent" "run" "--foreground" "--config" "/home/a/svc.toml"
Restart=on-failure
RestartSec=2
RestartPreventExitStatus=2 6
TimeoutStopSec=20
LimitNOFILE=65536
UMask=0077

NoNewPrivileges=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM

[Install]
WantedBy=default.target
`)
    expect(plan.install.map(({ args }) => args.join(' '))).toEqual([
      'systemctl --user daemon-reload',
      'systemctl --user enable svc-agent.service',
      'systemctl --user restart svc-agent.service',
      'loginctl enable-linger',
    ])
    expect([...plan.uninstall, ...plan.forget].map(({ args }) => args.join(' '))).toEqual([
      'systemctl --user disable --now svc-agent.service',
      'systemctl --user daemon-reload',
    ])
  })

  it('gets a unit of the system, under an account that writes to its own folders alone', () => {
    const plan = planInstallation({ ...SERVICE, account: 'tunnels' }, LINUX)
    expect(plan.path).toBe('/etc/systemd/system/svc-agent.service')
    expect(plan.text).toBe(`# Written by svc agent install; svc agent uninstall removes it.
[Unit]
Description=svc agent, which publishes the tunnels of svc.toml
Wants=network-online.target
After=network-online.target

[Service]
User=tunnels
StateDirectory=svc-agent
StateDirectoryMode=0700
CacheDirectory=svc-agent
Type=exec
# The colon: no variable is put in for what follows a dollar sign.
ExecStart=":/usr/bin/node" "/opt/svc/main.js" "agent" "run" "--foreground" "--config" "/home/a/svc.toml"
Restart=on-failure
RestartSec=2
RestartPreventExitStatus=2 6
TimeoutStopSec=20
LimitNOFILE=65536
UMask=0077

NoNewPrivileges=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM
CapabilityBoundingSet=
ProtectSystem=strict
ProtectHome=read-only
ProtectProc=invisible
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ReadWritePaths="/home/a" "/srv/b"

[Install]
WantedBy=multi-user.target
`)
    expect(plan.install.map(({ args }) => args.join(' '))).toEqual([
      'systemctl daemon-reload',
      'systemctl enable svc-agent.service',
      'systemctl restart svc-agent.service',
    ])
  })

  it('gets odd paths in the quotation of systemd.syntax(7)', () => {
    const program = '/srv/a b/100%h $HOME'
    const { text } = planInstallation({ ...ODD_SERVICE, command: [program, 'run', ODD] }, LINUX)
    const odd = `/srv/a b/100%%h $HOME $X \\"q\\" 's' \\\\n ;#<&>é`
    expect(text).toContain(`\nEnvironment="NAME=${odd}"\n`)
    expect(text).toContain(`\nExecStart=":/srv/a b/100%%h $HOME" "run" "${odd}"\n`)
    expect(() => planInstallation(ODD_SERVICE, LINUX)).toThrow(
      'systemd starts no program with a quotation mark or a backslash',
    )
  })
})

describe('launchd', () => {
  it('gets a property list of the user', () => {
    const plan = planInstallation({ ...SERVICE, environment: { SVC_URL: 'https://r.example' } }, MAC)
    expect(plan.path).toBe('/Users/a/Library/LaunchAgents/svc-agent.plist')
    expect(plan.text).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by svc agent install; svc agent uninstall removes it. -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>svc-agent</string>
  <key>ProgramArguments</key>
  <array>
    <string>/usr/bin/node</string>
    <string>/opt/svc/main.js</string>
    <string>agent</string>
    <string>run</string>
    <string>--foreground</string>
    <string>--config</string>
    <string>/home/a/svc.toml</string>
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>SVC_URL</key>
    <string>https://r.example</string>
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>10</integer>
  <key>ExitTimeOut</key>
  <integer>20</integer>
  <key>ProcessType</key>
  <string>Background</string>
  <key>SoftResourceLimits</key>
  <dict>
    <key>NumberOfFiles</key>
    <integer>65536</integer>
  </dict>
  <key>Umask</key>
  <integer>63</integer>
  <key>StandardOutPath</key>
  <string>/Users/a/Library/Logs/svc-agent.log</string>
  <key>StandardErrorPath</key>
  <string>/Users/a/Library/Logs/svc-agent.log</string>
</dict>
</plist>
`)
    expect(plan.install.map(({ args }) => args.join(' '))).toEqual([
      'launchctl bootout gui/501/svc-agent',
      'launchctl bootstrap gui/501 /Users/a/Library/LaunchAgents/svc-agent.plist',
    ])
  })

  it('gets a daemon under an account, and odd paths with entities', () => {
    const plan = planInstallation({ ...ODD_SERVICE, account: 'a' }, MAC)
    expect(plan.path).toBe('/Library/LaunchDaemons/svc-agent.plist')
    expect(plan.text).toContain('<key>UserName</key>\n  <string>a</string>')
    expect(plan.text).toContain('<string>/Library/Logs/svc-agent.log</string>')
    expect(plan.text).toContain(
      '<string>/srv/a b/100%h $HOME $X &quot;q&quot; &apos;s&apos; \\n ;#&lt;&amp;&gt;é</string>',
    )
    expect(plan.install.at(-1)!.args).toEqual(['launchctl', 'bootstrap', 'system', plan.path])
  })
})

describe('the Task Scheduler', () => {
  const service: Service = {
    ...SERVICE,
    command: [
      'C:\\Program Files\\svc & co\\svc.exe',
      'agent',
      'run',
      'say "hi"\\',
      'C:\\a b\\',
      'C:\\plain\\',
    ],
  }

  it('gets a task at logon, without a window', () => {
    const plan = planInstallation(service, WINDOWS)
    expect(plan).toMatchObject({ path: 'C:\\Temp\\svc-agent.xml', encoding: 'utf16le', isTemporary: true })
    expect(plan.text).toBe(`<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>svc agent, which publishes the tunnels of svc.toml</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <UserId>PC\\a</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>PC\\a</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>999</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>conhost.exe</Command>
      <Arguments>--headless &quot;C:\\Program Files\\svc &amp; co\\svc.exe&quot; agent run &quot;say \\&quot;hi\\&quot;\\\\&quot; &quot;C:\\a b\\\\&quot; C:\\plain\\</Arguments>
    </Exec>
  </Actions>
</Task>
`)
    expect(plan.install.map(({ args }) => args.join(' '))).toEqual([
      'schtasks /End /TN svc agent',
      'schtasks /Create /TN svc agent /XML C:\\Temp\\svc-agent.xml /F',
      'schtasks /Run /TN svc agent',
    ])
  })

  it('gets a task at the start of the machine, for an account without its password', () => {
    const { text } = planInstallation({ ...service, account: 'PC\\b' }, WINDOWS)
    expect(text).toContain('<BootTrigger />')
    expect(text).toContain('<UserId>PC\\b</UserId>\n      <LogonType>S4U</LogonType>')
    expect(text).toContain('<Command>C:\\Program Files\\svc &amp; co\\svc.exe</Command>')
  })

  it.each(['C:\\%PATH%\\svc.exe', 'C:\\$(Arg0)\\svc.exe'])('refuses %s, which it would change', (path) => {
    expect(() => planInstallation({ ...service, command: [path] }, WINDOWS)).toThrow(
      'the Task Scheduler would replace a part of',
    )
  })
})

it.each([LINUX, MAC, WINDOWS])('a control character is refused on $platform', (machine) => {
  const service: Service = { ...SERVICE, command: ['/usr/bin/node', '/tmp/a\nExecStartPre=/bin/evil'] }
  expect(() => planInstallation(service, machine)).toThrow(
    'a service cannot be installed with "/tmp/a\\nExecStartPre=/bin/evil": it has a control character',
  )
})

it('another system gets a sentence', () => {
  expect(() => planInstallation(SERVICE, { ...LINUX, platform: 'freebsd' })).toThrow(
    'svc knows no services of freebsd: let its own manager run svc agent run --foreground',
  )
})
