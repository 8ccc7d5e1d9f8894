// A virtual list: only rows near the viewport are in the document. All rows have the height that the
// style sheet gives them.
import { useMemo, useRef, type VNode } from '../preact.ts'
import { useVisibleRows } from './visible-rows.ts'

interface VirtualListProps<T extends object> {
  label: string
  /** CSS class, whose style gives the height of the rows. */
  name: string
  items: readonly T[]
  keyOf(item: T): string
  children(item: T): VNode
}

export function VirtualList<T extends object>({
  label,
  name,
  items,
  keyOf,
  children,
}: VirtualListProps<T>): VNode {
  const list = useRef<HTMLUListElement>(null)
  const { first, end, before, after } = useVisibleRows(list, 'li', items.length)
  // Rows that remain during scrolling keep their VNode, so Preact does not render them again.
  const rows = useMemo(() => new WeakMap<T, VNode>(), [children])
  const rowOf = (item: T): VNode => {
    const row = rows.get(item) ?? children(item)
    rows.set(item, row)
    return row
  }
  const padding = { paddingTop: `${before}px`, paddingBottom: `${after}px` }
  return (
    <ul class={`virtual ${name}`} aria-label={label} ref={list} style={padding}>
      {items.slice(first, end).map((item, index) => (
        <li key={keyOf(item)} aria-setsize={items.length} aria-posinset={first + index + 1}>
          {rowOf(item)}
        </li>
      ))}
    </ul>
  )
}
