// Draws a graph over time. The only importer of uPlot.
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'

export interface Line {
  label: string
  /** Name of a custom property of the style sheet. */
  color: string
  values: (number | null)[]
}

const HEIGHT_PX = 140
const AXIS_PX = 64
const LINE_PX = 2

export class Chart {
  readonly #plot: UPlot
  readonly #resized: ResizeObserver
  readonly #scheme: MediaQueryList = matchMedia('(prefers-color-scheme: dark)')
  readonly #redraw = (): void => this.#plot.redraw()

  constructor(place: HTMLElement, lines: readonly Line[], format: (value: number) => string) {
    // Read at each drawing, so that the colours follow the colour scheme.
    const color = (name: string) => () => getComputedStyle(place).getPropertyValue(name)
    const axis = {
      stroke: color('--quiet'),
      grid: { stroke: color('--line'), width: 1 },
      ticks: { show: false },
    }
    this.#plot = new UPlot(
      {
        width: place.clientWidth,
        height: HEIGHT_PX,
        legend: { show: false },
        cursor: { show: false },
        axes: [
          { ...axis, grid: { show: false }, values: '{HH}:{mm}:{ss}', space: AXIS_PX },
          { ...axis, size: AXIS_PX, values: (_plot, values) => values.map(format) },
        ],
        scales: { y: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.1)] } },
        series: [
          {},
          ...lines.map(({ label, color: name }) => ({
            label,
            stroke: color(name),
            width: LINE_PX,
            points: { show: false },
          })),
        ],
      },
      [[], ...lines.map(() => [])],
      place,
    )
    this.#resized = new ResizeObserver(() =>
      this.#plot.setSize({ width: place.clientWidth, height: HEIGHT_PX }),
    )
    this.#resized.observe(place)
    this.#scheme.addEventListener('change', this.#redraw)
  }

  draw(times: number[], lines: readonly Line[]): void {
    this.#plot.setData([times, ...lines.map(({ values }) => values)])
  }

  close(): void {
    this.#resized.disconnect()
    this.#scheme.removeEventListener('change', this.#redraw)
    this.#plot.destroy()
  }
}
