// Starts the three kinds of workers for the specs, each from the same script.
import workerUrl from './worker.ts?worker&url'

interface Published {
  url: string
  state: string
}

type Kind = 'dedicated' | 'shared' | 'service' | 'single-file'

declare global {
  var publishIn: (kind: Kind, relay: string, name: string) => Promise<Published>
}

globalThis.publishIn = async (kind, relay, name) => {
  const { port1, port2 } = new MessageChannel()
  const answer = new Promise<Published>((resolve) => {
    port1.onmessage = ({ data }) => resolve(data)
  })
  const target = await start[kind]()
  target.postMessage({ relay, name }, [port2])
  return answer
}

const start: Record<Kind, () => Promise<Pick<Worker, 'postMessage'>>> = {
  dedicated: async () => new Worker(workerUrl, { type: 'module' }),
  shared: async () => new SharedWorker(workerUrl, { type: 'module' }).port,
  service: () => serviceWorker(workerUrl, 'module'),
  'single-file': () => serviceWorker('/single-file-worker.js', 'classic'),
}

async function serviceWorker(url: string, type: WorkerType): Promise<ServiceWorker> {
  const registration = await navigator.serviceWorker.register(url, { type })
  const worker = registration.active ?? registration.installing ?? registration.waiting
  if (worker === null) throw new Error('there is no service worker')
  const isActive = (): boolean => worker.state === 'activated'
  while (!isActive()) await new Promise((resolve) => worker.addEventListener('statechange', resolve))
  return worker
}
