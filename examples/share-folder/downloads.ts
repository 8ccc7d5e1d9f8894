// The list of what visitors download, with how much of it they have.
import { make } from '../shared/dom.ts'

/** Rows that are kept. */
const DOWNLOADS_MAX = 20

/** Adds a row for `response`. @returns the response to send, whose body counts as it goes */
export function follow(list: HTMLElement, request: Request, response: Response): Response {
  const total = Number(response.headers.get('content-length') ?? 0)
  if (!response.body || total === 0) return response
  const { progress, amount } = addRow(list, decodeURIComponent(new URL(request.url).pathname), total)
  let sent = 0
  const end = (text: string): void => {
    amount.textContent = text
  }
  const show = (bytes: number): void => {
    sent += bytes
    progress.value = sent
    end(sent === total ? `${format(total)} · done` : `${format(sent)} of ${format(total)}`)
  }
  request.signal.addEventListener(
    'abort',
    () => sent < total && end(`${format(sent)} of ${format(total)} · left`),
  )
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      show(chunk.length)
      controller.enqueue(chunk)
    },
  })
  return new Response(response.body.pipeThrough(counter), response)
}

function addRow(
  list: HTMLElement,
  path: string,
  total: number,
): { progress: HTMLProgressElement; amount: HTMLElement } {
  const row = make('li')
  const name = make('span', path, 'path')
  const amount = make('span')
  const progress = make('progress')
  name.title = path
  progress.max = total
  progress.value = 0
  progress.setAttribute('aria-label', path)
  row.append(name, amount, progress)
  list.prepend(row)
  while (list.children.length > DOWNLOADS_MAX) list.lastElementChild?.remove()
  return { progress, amount }
}

function format(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  const [size, unit] =
    bytes < 1e6 ? [bytes / 1e3, 'kB'] : bytes < 1e9 ? [bytes / 1e6, 'MB'] : [bytes / 1e9, 'GB']
  return `${size.toFixed(1)} ${unit}`
}
