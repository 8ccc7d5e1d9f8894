// A table of facts with a row for each question and a column for each who is asked about.
import { HeadRow } from '../common/head-row.tsx'
import type { VNode } from '../preact.ts'
import { FACTS } from '../texts/facts.ts'

interface FactsTableProps {
  id: string
  title: string
  columns: readonly string[]
  rows: readonly { what: string; facts: readonly string[] }[]
  /** What the table leaves out. */
  note: string
}

export function FactsTable({ id, title, columns, rows, note }: FactsTableProps): VNode {
  return (
    <>
      <h2 class="section" id={id}>
        {title}
      </h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a narrow window scrolls it, also by keyboard */}
      <section class="scrolls" tabIndex={0} aria-labelledby={id}>
        <table class="facts">
          <HeadRow names={columns}>
            <td />
          </HeadRow>
          <tbody>
            {rows.map(({ what, facts }) => (
              <tr key={what}>
                <th scope="row">{what}</th>
                {facts.map((fact, column) => (
                  <td key={columns[column]} class={fact.startsWith(FACTS.no) ? undefined : 'yes'}>
                    {fact}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <p class="quiet">{note}</p>
    </>
  )
}
