// The order of the pages in the sidebar. A page that is not here is on no menu, which scripts/test/docs-site.test.ts finds.
import { globSync } from 'node:fs'
import path from 'node:path'

export const root: string = path.resolve(import.meta.dirname, '../../..')

export interface Section {
  label: string
  /** Files, from the repository's root, in the order in which somebody new reads them. */
  pages: readonly string[]
  collapsed?: boolean
}

/** @param folder below `docs` */
function inFolder(folder: string, ...names: string[]): string[] {
  return names.map((name) => `docs/${folder}/${name}.md`)
}

export const SECTIONS: readonly Section[] = [
  {
    label: 'Start',
    pages: ['docs/README.md', ...inFolder('guide', 'install', 'recipes', 'pages', 'svc', 'node', 'publish')],
  },
  {
    label: 'Publish',
    pages: inFolder(
      'guide',
      'http',
      'handlers',
      'access',
      'custom-domains',
      'rules',
      'webhooks',
      'inspector',
      'agent',
      'static-cache',
      'payments',
      'other-tunnels',
    ),
  },
  {
    label: 'Operate a relay',
    pages: inFolder(
      'operate',
      'install',
      'settings',
      'certificates',
      'dns',
      'policy',
      'abuse',
      'monitoring',
      'limits',
      'network',
      'cluster',
    ),
  },
  { label: 'Help', pages: inFolder('guide', 'troubleshooting', 'errors', 'faq') },
  { label: 'Protocol', pages: ['docs/protocol.md'] },
  {
    label: 'Internals',
    pages: inFolder(
      'internals',
      'architecture',
      'tls',
      'testing',
      'performance',
      'compatibility',
      'glossary',
    ),
    collapsed: true,
  },
  {
    label: 'Decisions',
    pages: ['docs/decisions/README.md', ...globSync('docs/decisions/0*.md', { cwd: root }).sort()],
    collapsed: true,
  },
  { label: 'Project', pages: ['SECURITY.md', 'CONTRIBUTING.md', 'CHANGELOG.md'], collapsed: true },
]

/** Shorter than the page's own title, which says what the section says already. */
export const LABELS: Readonly<Record<string, string>> = {
  'docs/README.md': 'Overview',
  'docs/guide/svc.md': 'On your machine: svc',
  'docs/guide/node.md': 'In Node: expose',
  'docs/guide/publish.md': 'All options of publish',
  'docs/guide/http.md': 'HTTP and WebSockets',
  'docs/operate/install.md': 'Install',
  'docs/protocol.md': 'The protocol',
  'docs/decisions/README.md': 'Overview',
  'SECURITY.md': 'Security',
}
