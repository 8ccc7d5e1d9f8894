// Describes the Debian packages svc-relay and svc: their files, and what they need of the system.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { root } from '../../tools/programs/command.ts'
import type { DebianPackage, PackageFile } from './build-package.ts'
import { manPage } from './man-page.ts'
import { relayEnv } from './relay-env.ts'

export type Architecture = DebianPackage['architecture']

export interface Release {
  /** As package.json has it. */
  version: string
  /** Seconds since 1970. */
  time: number
  architecture: Architecture
}

interface Program {
  executable: Uint8Array
  /** The text that it prints for --help. */
  help: string
}

/** Libraries that Node's executables are linked with. */
const NODE_LIBRARIES = ['libatomic1', 'libc6 (>= 2.28)', 'libgcc-s1', 'libstdc++6 (>= 5)']
const PROGRAM_MODE = 0o755
const FILE_MODE = 0o644
const SECRET_MODE = 0o600
const SCRIPTS = ['postinst', 'prerm', 'postrm']
const UNIT = 'packaging/debian/svc-relay.service'

/** @param bundle the gzip file of the bundle of svc, which the relay offers to machines with Node */
export function relayPackage(
  release: Release,
  { executable, help }: Program,
  bundle: Uint8Array,
): DebianPackage {
  const name = 'svc-relay'
  const summary = 'gives sites in web pages public hostnames'
  const page = manPage({
    name,
    section: 8,
    summary,
    help,
    ...release,
    notes: [
      'The service svc-relay.service runs it as the account svc, with the settings in /etc/svc/relay.env and the state in /var/lib/svc.',
      'systemctl reload svc-relay reads certificates and policy again, and ends no connection.',
    ],
    seeAlso: ['svc(1)', 'systemctl(1)'],
  })
  return {
    ...common(name, release),
    control: {
      ...fields('net', [...NODE_LIBRARIES, 'adduser']),
      Description: paragraphs('relay that gives sites in web pages public hostnames', [
        'A page, a worker or a program publishes an HTTPS server through the relay,',
        'which carries bytes that it cannot read. The package has the relay as one',
        'executable, a systemd service with an account of its own, and its settings.',
      ]),
    },
    files: [
      { path: `usr/bin/${name}`, mode: PROGRAM_MODE, content: executable },
      { path: 'etc/svc/relay.env', mode: SECRET_MODE, content: relayEnv(), isConffile: true },
      { path: 'usr/lib/systemd/system/svc-relay.service', mode: FILE_MODE, content: sourceOf(UNIT) },
      ...downloads(bundle),
      { path: `usr/share/man/man8/${name}.8.gz`, mode: FILE_MODE, content: compressed(page) },
      ...documents(name, release),
    ],
    scripts: Object.fromEntries(
      SCRIPTS.map((script) => [script, sourceOf(`packaging/debian/svc-relay/${script}`)]),
    ),
  }
}

export function commandPackage(release: Release, { executable, help }: Program): DebianPackage {
  const name = 'svc'
  const summary = 'publishes local services at a relay'
  const page = manPage({ name, section: 1, summary, help, ...release, seeAlso: ['svc-relay(8)'] })
  return {
    ...common(name, release),
    control: {
      ...fields('net', NODE_LIBRARIES),
      Description: paragraphs('publishes local services at a relay', [
        'The command svc gives a local HTTP or TCP service, a UDP port or a folder a',
        'public hostname at a relay. TLS ends on this machine, so that the relay',
        'cannot read what visitors send.',
      ]),
    },
    files: [
      { path: `usr/bin/${name}`, mode: PROGRAM_MODE, content: executable },
      { path: `usr/share/man/man1/${name}.1.gz`, mode: FILE_MODE, content: compressed(page) },
      ...documents(name, release),
    ],
  }
}

/** The executables of six platforms would make the package ten times as large. */
function downloads(bundle: Uint8Array): PackageFile[] {
  const directory = 'usr/share/svc-relay/install/bin'
  const sum = createHash('sha256').update(bundle).digest('hex')
  return [
    { path: `${directory}/svc.mjs.gz`, mode: FILE_MODE, content: bundle },
    { path: `${directory}/SHA256SUMS`, mode: FILE_MODE, content: `${sum}  svc.mjs.gz\n` },
  ]
}

/** Debian sorts a tilde before everything: 1.0.0~rc.1 comes before 1.0.0. */
export function debianVersion(version: string): string {
  return version.replace('-', '~')
}

function common(name: string, { version, architecture }: Release) {
  return { name, version: debianVersion(version), architecture }
}

function fields(section: string, depends: readonly string[]): Record<string, string> {
  return {
    Section: section,
    Priority: 'optional',
    Maintainer: maintainer(),
    Depends: depends.join(', '),
  }
}

/** DEBFULLNAME and DEBEMAIL are the variables of Debian's own tools. */
function maintainer(): string {
  const { DEBFULLNAME = 'svc maintainers', DEBEMAIL = 'maintainers@svc.example' } = process.env
  return `${DEBFULLNAME} <${DEBEMAIL}>`
}

/** Debian Policy 12.5 and 12.7. */
function documents(name: string, { version, time }: Release): PackageFile[] {
  const date = new Date(time * 1000).toUTCString().replace('GMT', '+0000')
  const changelog = [
    `${name} (${debianVersion(version)}) stable; urgency=medium`,
    '',
    `  * Release ${version}: CHANGELOG.md of the source tells the changes.`,
    '',
    ` -- ${maintainer()}  ${date}`,
    '',
  ].join('\n')
  const directory = `usr/share/doc/${name}`
  return [
    { path: `${directory}/changelog.gz`, mode: FILE_MODE, content: compressed(changelog) },
    { path: `${directory}/copyright`, mode: FILE_MODE, content: copyright(time) },
    { path: `usr/share/lintian/overrides/${name}`, mode: FILE_MODE, content: overrides(name) },
  ]
}

/** Says what is as it has to be, for Debian's checker lintian. */
function overrides(name: string): string {
  const executable = ['embedded-library *', 'hardening-no-pie *', 'unstripped-binary-or-object *']
  const lines = [
    '# The executable is that of Node.js with a bundle behind it, which strip would remove.',
    ...executable.map((tag) => `${name}: ${tag}`),
    ...(name === 'svc-relay'
      ? [
          '# The settings have the admin token, so that only root may read them.',
          `${name}: non-standard-file-perm 0600 != 0644 [etc/svc/relay.env]`,
        ]
      : []),
  ]
  return `${lines.join('\n')}\n`
}

function copyright(time: number): string {
  return `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: svc
Comment: The executable contains Node.js, with the licenses that its own LICENSE file lists.

Files: *
Copyright: ${new Date(time * 1000).getUTCFullYear()} svc maintainers
License: Apache-2.0
 On Debian systems, the text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
`
}

/** The description of a control file: further lines begin with a blank. */
function paragraphs(first: string, lines: readonly string[]): string {
  return [first, ...lines.map((line) => ` ${line}`)].join('\n')
}

/** Node writes no time into the header, so that the same text gives the same bytes. */
function compressed(text: string): Uint8Array {
  return gzipSync(text, { level: 9 })
}

function sourceOf(file: string): string {
  return readFileSync(path.join(root, file), 'utf8')
}
