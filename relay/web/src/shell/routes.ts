// Maps URLs to pages, and navigates within the document, because a published site runs in it.
import { Store } from '../common/store.ts'

export type Route = '/' | '/sites' | '/relays' | '/admin' | '/ca'

const ROUTES: readonly Route[] = ['/', '/sites', '/relays', '/admin', '/ca']

/** Whether the relay serves `/` and `/sites`, as far as this document knows. */
export const hasPublicPages: Store<boolean> = new Store(true)

/** The path of the document. The administration has pages below its own. */
export const path: Store<string> = new Store(location.pathname)

export const route: Store<Route> = new Store(routeOf(location.pathname))
addEventListener('popstate', follow)

export function navigate(to: string): void {
  history.pushState(null, '', to)
  follow()
  scrollTo(0, 0)
}

function follow(): void {
  path.set(location.pathname)
  route.set(routeOf(location.pathname))
}

function routeOf(path: string): Route {
  if (path.startsWith('/admin/')) return '/admin'
  const name = path.replace(/(?<=.)\/(?:index(?:\.html)?)?$/, '')
  return ROUTES.find((one) => one === name) ?? '/'
}
