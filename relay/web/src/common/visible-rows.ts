// Finds which rows of a long list are near the viewport. All rows have the height that the style sheet gives them.
import { useEffect, useLayoutEffect, useState } from '../preact.ts'

/** The rows in the document above and below the viewport, and the step by which the range moves. */
const MARGIN_ROWS = 12
const STEP_ROWS = 6
/** Height of a row until the first one is measured. */
const ROW_GUESS_PX = 80

export interface VisibleRows {
  /** The first row in the document, and the one after the last. */
  first: number
  end: number
  /** The height of the rows before and after those, in pixels. */
  before: number
  after: number
}

/**
 * @param list the element whose top is that of the first row
 * @param row selects a row in it
 */
export function useVisibleRows(
  list: { current: HTMLElement | null },
  row: string,
  count: number,
): VisibleRows {
  const [height, setHeight] = useState(ROW_GUESS_PX)
  const [{ start, end }, setRange] = useState({ start: 0, end: MARGIN_ROWS * 2 })
  useLayoutEffect(() => {
    const measured = list.current?.querySelector(row)?.getBoundingClientRect().height
    if (measured !== undefined && measured > 0 && Math.abs(measured - height) > 1) setHeight(measured)
  })
  useEffect(() => {
    const look = (): void => {
      const top = list.current?.getBoundingClientRect().top ?? 0
      const next = rangeOf(-top / height, innerHeight / height)
      setRange((now) => (now.start === next.start && now.end === next.end ? now : next))
    }
    look()
    addEventListener('scroll', look, { passive: true })
    addEventListener('resize', look)
    return () => {
      removeEventListener('scroll', look)
      removeEventListener('resize', look)
    }
  }, [height, count])
  const first = Math.max(0, Math.min(start, count - MARGIN_ROWS))
  const last = Math.max(first, Math.min(end, count))
  return { first, end: last, before: first * height, after: (count - last) * height }
}

/** @param above rows scrolled out at the top. @param visible rows that fit in the viewport */
function rangeOf(above: number, visible: number): { start: number; end: number } {
  const start = Math.floor(above / STEP_ROWS) * STEP_ROWS - MARGIN_ROWS
  const end = Math.ceil((above + visible) / STEP_ROWS) * STEP_ROWS + MARGIN_ROWS
  return { start: Math.max(0, start), end: Math.max(MARGIN_ROWS, end) }
}
