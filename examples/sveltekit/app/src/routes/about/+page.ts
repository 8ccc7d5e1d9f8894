// Rendered when the app is built.
export const prerender = true
