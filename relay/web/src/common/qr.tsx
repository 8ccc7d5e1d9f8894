// Draws a QR code as one path. The only importer of uqr.
import { encode } from 'uqr'
import type { VNode } from '../preact.ts'

export function Qr({ text, label }: { text: string; label: string }): VNode {
  const { data, size } = encode(text, { border: 2 })
  const squares = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
  return (
    <svg
      class="qr"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shape-rendering="crispEdges"
    >
      <path d={squares.join('')} />
    </svg>
  )
}
