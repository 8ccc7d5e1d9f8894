// A virtual list: only rows near the viewport are in the document. All rows have the height that the
// style sheet gives them.
import { useEffect, useLayoutEffect, useMemo, useRef, useState, type VNode } from '../preact.ts'

/** The rows in the document above and below the viewport, and the step by which the range moves. */
const MARGIN_ROWS = 12
const STEP_ROWS = 6
/** Height of a row until the first one is measured. */
const ROW_GUESS_PX = 80

interface VirtualListProps<T extends object> {
  label: string
  /** CSS class, whose style gives the height of the rows. */
  name: string
  items: readonly T[]
  keyOf(item: T): string
  children(item: T): VNode
}

interface Range {
  start: number
  end: number
}

export function VirtualList<T extends object>({
  label,
  name,
  items,
  keyOf,
  children,
}: VirtualListProps<T>): VNode {
  const list = useRef<HTMLUListElement>(null)
  const [row, setRow] = useState(ROW_GUESS_PX)
  const [{ start, end }, setRange] = useState<Range>({ start: 0, end: MARGIN_ROWS * 2 })

  useLayoutEffect(() => {
    const height = list.current?.querySelector('li')?.getBoundingClientRect().height
    if (height !== undefined && height > 0 && Math.abs(height - row) > 1) setRow(height)
  })
  useEffect(() => {
    const look = (): void => {
      const top = list.current?.getBoundingClientRect().top ?? 0
      const next = rangeOf(-top / row, innerHeight / row)
      setRange((now) => (now.start === next.start && now.end === next.end ? now : next))
    }
    look()
    addEventListener('scroll', look, { passive: true })
    addEventListener('resize', look)
    return () => {
      removeEventListener('scroll', look)
      removeEventListener('resize', look)
    }
  }, [row, items.length])

  // Rows that remain during scrolling keep their VNode, so Preact does not render them again.
  const rows = useMemo(() => new WeakMap<T, VNode>(), [children])
  const rowOf = (item: T): VNode => {
    const row = rows.get(item) ?? children(item)
    rows.set(item, row)
    return row
  }
  const first = Math.max(0, Math.min(start, items.length - MARGIN_ROWS))
  const shown = items.slice(first, end)
  const padding = {
    paddingTop: `${first * row}px`,
    paddingBottom: `${(items.length - first - shown.length) * row}px`,
  }
  return (
    <ul class={`virtual ${name}`} aria-label={label} ref={list} style={padding}>
      {shown.map((item, index) => (
        <li key={keyOf(item)} aria-setsize={items.length} aria-posinset={first + index + 1}>
          {rowOf(item)}
        </li>
      ))}
    </ul>
  )
}

/** @param above rows scrolled out at the top. @param visible rows that fit in the viewport */
function rangeOf(above: number, visible: number): Range {
  const start = Math.floor(above / STEP_ROWS) * STEP_ROWS - MARGIN_ROWS
  const end = Math.ceil((above + visible) / STEP_ROWS) * STEP_ROWS + MARGIN_ROWS
  return { start: Math.max(0, start), end: Math.max(MARGIN_ROWS, end) }
}
