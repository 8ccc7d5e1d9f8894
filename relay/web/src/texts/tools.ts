// Texts of the tool server: those of its owner's page, and those that assistants and visitors read.
import { translatable } from './translate.ts'

export const TOOLS = {
  title: 'Tool server',
  connect: 'Put this into the configuration of an assistant that speaks MCP. Its tools then run in this tab:',
  copy: 'Copy the configuration',
  calls: 'Calls',
  noCalls: 'None yet. Tell the assistant: “Ask me something with your tool ask.”',
  answer: 'Answer',
  answerTo: (question: string): string => `Answer to: ${question}`,
  answered: (answer: string): string => `You answered: ${answer}`,
  over: 'The assistant does not wait any more.',

  show: 'Shows a text to the person who has this page open.',
  showText: 'The text, without markup.',
  shown: 'The person sees it.',
  ask: 'Asks the person who has this page open, and returns the answer. It takes up to 50 seconds.',
  askQuestion: 'The question, without markup.',
  noAnswer: 'The person has not answered in time.',
  tooMany: 'The person has other questions to answer first.',
  noText: (max: number): string => `It has to be a text of 1 to ${max} characters.`,

  pageTitle: 'A tool server in a browser tab',
  pageText: 'Assistants call its tools at this address, by the Model Context Protocol over HTTP.',
  pageFoot: 'This page came straight from somebody’s browser tab.',
} as const

translatable('TOOLS', TOOLS)
