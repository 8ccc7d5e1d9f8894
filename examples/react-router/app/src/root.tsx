// The document around the route.
import type { ReactNode } from 'react'
import { Links, Meta, Outlet, Scripts } from 'react-router'
import '../../../shared/style.css'

export default function Root(): ReactNode {
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <meta name="color-scheme" content="light dark" />
        <link rel="icon" href="data:," />
        <Meta />
        <Links />
      </head>
      <body>
        <Outlet />
        <Scripts />
      </body>
    </html>
  )
}
