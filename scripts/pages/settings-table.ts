// Writes the table of docs/operate/settings.md from the relay's settings: `node scripts/pages/settings-table.ts`.
import { SETTINGS } from '../../relay/src/settings.ts'
import { writeSection } from './section.ts'

export const SETTINGS_PAGE = 'docs/operate/settings.md'
export const SETTINGS_SECTION = 'settings'

/** @returns a row for each setting, in the order of `svc-relay --help` */
export function settingsTable(): string {
  const rows = SETTINGS.map((setting) => {
    const effect = setting.hasDefault ? `\`${setting.default}\`` : setting.default
    return `| \`${setting.name}\` | ${inCell(setting.meaning)} | ${inCell(effect)} |\n`
  })
  return `| setting | meaning | default |\n|---|---|---|\n${rows.join('')}`
}

function inCell(text: string): string {
  return text.replaceAll('|', '\\|')
}

if (import.meta.main) writeSection(SETTINGS_PAGE, SETTINGS_SECTION, settingsTable())
