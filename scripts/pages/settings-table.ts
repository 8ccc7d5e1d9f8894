// Writes the tables of docs/operate/settings.md from the relay's settings: `node scripts/pages/settings-table.ts`.
import { SETTINGS, type SettingText } from '../../relay/src/settings.ts'
import { writeSection } from './section.ts'

export const SETTINGS_PAGE = 'docs/operate/settings.md'
export const SETTINGS_SECTION = 'settings'

/** The first setting of each part, in the order of `svc-relay --help`, the title of the part, and what explains it. */
const PARTS: readonly (readonly [first: string, title: string, page?: string])[] = [
  ['SVC_URL', 'The relay'],
  ['ACME_DNS_PROVIDER', 'DNS and addresses', '[DNS](dns.md)'],
  ['ACME_AGREE', 'Certificates', '[certificates](certificates.md)'],
  ['CLUSTER_URL', 'Several machines', '[several machines](cluster.md)'],
  ['MIN_PORT', 'TCP and UDP ports', '[UDP](monitoring.md#udp)'],
  [
    'STATIC_CACHE_ENABLED',
    'Files, domains and payments of sites',
    '[the static cache](../guide/static-cache.md#for-operators), [custom domains](network.md#custom-domains), [payments](../guide/payments.md#for-operators)',
  ],
  ['DISCOVERY', 'Relays among themselves', '[discovery, overlay, routes](network.md)'],
  ['METRICS_ADDR', 'Metrics, plain HTTP, downloads'],
]

/** @returns a table for each part, with a row for each setting, in the order of `svc-relay --help` */
export function settingsTable(): string {
  const starts = PARTS.map(([first]) => SETTINGS.findIndex(({ name }) => name === first))
  if (starts.some((start, index) => start < 0 || start <= (starts[index - 1] ?? -1)))
    throw new Error('a part of the settings begins with one that is elsewhere, or nowhere')
  const parts = PARTS.map(([, title, page], index) => {
    const rows = SETTINGS.slice(starts[index], starts[index + 1]).map(rowOf)
    const more = page === undefined ? '' : `How: ${page}.\n\n`
    return `## ${title}\n\n${more}| setting | meaning | default |\n|---|---|---|\n${rows.join('')}`
  })
  return parts.join('\n')
}

function rowOf(setting: SettingText): string {
  const effect = setting.hasDefault ? `\`${setting.default}\`` : setting.default
  return `| \`${setting.name}\` | ${inCell(setting.meaning)} | ${inCell(effect)} |\n`
}

function inCell(text: string): string {
  return text.replaceAll('|', '\\|')
}

if (import.meta.main) writeSection(SETTINGS_PAGE, SETTINGS_SECTION, settingsTable())
