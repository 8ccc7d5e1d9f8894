// Maps URLs to pages, and navigates within the document, because a published site runs in it.
import { Store } from '../common/store.ts'

export type Route = '/' | '/sites' | '/relays' | '/admin' | '/ca'

const ROUTES: readonly Route[] = ['/', '/sites', '/relays', '/admin', '/ca']

/** Whether the relay serves `/` and `/sites`, as far as this document knows. */
export const hasPublicPages: Store<boolean> = new Store(true)

export const route: Store<Route> = new Store(routeOf(location.pathname))
addEventListener('popstate', () => route.set(routeOf(location.pathname)))

export function navigate(to: Route): void {
  history.pushState(null, '', to)
  route.set(to)
  scrollTo(0, 0)
}

function routeOf(path: string): Route {
  const name = path.replace(/(?<=.)\/(?:index(?:\.html)?)?$/, '')
  return ROUTES.find((one) => one === name) ?? '/'
}
