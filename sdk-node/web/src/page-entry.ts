// Which of its two uses the page has: that of the agent, or that of one command.

/** True for the requests of a command, which has no tunnels to manage. The server says so (src/agent/page.ts). */
export const isCommand: boolean = document.documentElement.dataset.page === 'inspector'
