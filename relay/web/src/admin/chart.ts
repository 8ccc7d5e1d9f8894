// Draws a graph over time. The only importer of uPlot.
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'

export interface Line {
  label: string
  /** Name of a custom property of the style sheet. */
  color: string
  values: readonly (number | null)[]
}

export interface ChartOptions {
  /** Values are sums over the hour that begins at their time: they are drawn as steps. */
  isHourly: boolean
  /** The axis of values reaches at least to this one. */
  least: number
  /** Formats a value with its unit. */
  format(value: number): string
  /** Called with the position of the time under the pointer; undefined when it left. */
  onPoint(index: number | undefined): void
}

const HEIGHT_PX = 160
/** Width of the axis of values, and the room of a label of the other. */
const AXIS_PX = 64
const LINE_PX = 2
/** Height of the axis of times. */
const TIMES_PX = 28
const MINUTE_S = 60
const HOUR_S = 3600
/** The time that a graph without hours shows. */
const LIVE_S = 10 * MINUTE_S
/** The fewest pixels between two labels of the axis of values. */
const SPACE_PX = 28
/** Distances between two labels, in seconds: what clocks have. */
const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720].map((minutes) => minutes * MINUTE_S)
/** Distances between two labels: 1, 2 and 5 with zeros, which stay short with every unit. */
const STEPS = Array.from({ length: 16 }, (_, zeros) => [1, 2, 5].map((digit) => digit * 10 ** zeros)).flat()

const clock = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })

export class Chart {
  readonly #plot: UPlot
  readonly #resized: ResizeObserver
  readonly #scheme: MediaQueryList = matchMedia('(prefers-color-scheme: dark)')
  readonly #redraw = (): void => this.#plot.redraw()

  constructor(place: HTMLElement, lines: readonly Line[], options: ChartOptions) {
    this.#plot = new UPlot(plotOptions(place, lines, options), [[], ...lines.map(() => [])], place)
    this.#resized = new ResizeObserver(() => this.#plot.setSize(sizeOf(place)))
    this.#resized.observe(place)
    this.#scheme.addEventListener('change', this.#redraw)
  }

  /** @param times in seconds since the epoch */
  draw(times: readonly number[], lines: readonly Line[]): void {
    this.#plot.setData([[...times], ...lines.map(({ values }) => [...values])])
  }

  close(): void {
    this.#resized.disconnect()
    this.#scheme.removeEventListener('change', this.#redraw)
    this.#plot.destroy()
  }
}

function sizeOf(place: HTMLElement): { width: number; height: number } {
  return { width: place.clientWidth, height: HEIGHT_PX }
}

/**
 * Makes functions that return a color of the style sheet, as a canvas takes it. They read it at each drawing, so that the graph
 * follows the color scheme.
 */
function colorsOf(place: HTMLElement): (name: string) => () => string {
  const probe = document.createElement('i')
  probe.hidden = true
  place.append(probe)
  return (name) => () => {
    probe.style.color = `var(${name})`
    return getComputedStyle(probe).color
  }
}

function plotOptions(
  place: HTMLElement,
  lines: readonly Line[],
  { isHourly, least, format, onPoint }: ChartOptions,
): UPlot.Options {
  const color = colorsOf(place)
  const axis = {
    stroke: color('--quiet'),
    ticks: { show: false },
    font: `12px ${getComputedStyle(place).fontFamily}`,
  }
  const steps = UPlot.paths.stepped?.({ align: 1, extend: true })
  const sides = isHourly && steps !== undefined ? { paths: steps } : {}
  return {
    ...sizeOf(place),
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { show: !isHourly }, y: false },
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? undefined)] },
    axes: [
      {
        ...axis,
        grid: { show: false },
        incrs: TIME_STEPS,
        size: TIMES_PX,
        space: AXIS_PX,
        values: (_plot, times) => times.map((time) => clock.format(time * 1000)),
      },
      {
        ...axis,
        grid: { stroke: color('--line'), width: 1 },
        incrs: STEPS,
        size: AXIS_PX,
        space: SPACE_PX,
        // `1.0 MB` is `1 MB`.
        values: (_plot, values) => values.map((value) => format(value).replace('.0 ', ' ')),
      },
    ],
    scales: {
      x: { range: (_plot, min, max) => (isHourly ? [min, max + HOUR_S] : [max - LIVE_S, max]) },
      y: { range: (_plot, _min, max) => [0, Math.max(least, max * 1.1)] },
    },
    series: [
      {},
      ...lines.map(({ label, color: name }) => ({
        label,
        stroke: color(name),
        width: LINE_PX,
        points: { show: false },
        ...sides,
      })),
    ],
  }
}
