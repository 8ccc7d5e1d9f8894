// The app's one route.
import { index, type RouteConfig } from '@react-router/dev/routes'

const routes: RouteConfig = [index('./login.tsx')]

export default routes
