// The head of a table: a cell for each column.

import type { ComponentChildren, VNode } from '../preact.ts'

interface HeadRowProps {
  names: readonly string[]
  /** Cells before the names. */
  children?: ComponentChildren
}

export function HeadRow({ names, children }: HeadRowProps): VNode {
  return (
    <thead>
      <tr>
        {children}
        {names.map((name) => (
          <th key={name} scope="col">
            {name}
          </th>
        ))}
      </tr>
    </thead>
  )
}
