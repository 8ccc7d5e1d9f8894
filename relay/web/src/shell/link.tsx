// A link to another page of these. With a modifier key, or in another tab, it is a link like any other.
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
