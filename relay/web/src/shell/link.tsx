// A link to another page of the relay. With a modifier key the browser handles it as usual.
import type { ComponentChildren, VNode } from '../preact.ts'
import { navigate, type Route } from './routes.ts'

interface LinkProps {
  to: Route
  children: ComponentChildren
  isCurrent?: boolean
}

export function Link({ to, children, isCurrent = false }: LinkProps): VNode {
  const follow = (event: MouseEvent): void => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    navigate(to)
  }
  return (
    <a href={to} onClick={follow} {...(isCurrent && { 'aria-current': 'page' as const })}>
      {children}
    </a>
  )
}
