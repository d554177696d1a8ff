/** The laws of sessions. A planted bug names the one that it breaks. */
export const LAWS = {
  inputLost: 'no lost input',
  inputTwice: 'no input twice',
  order: 'inputs are taken in their order',
  cancelLost: 'no lost cancel',
  answers: 'each asker gets its own answer',
  turns: 'a turn ends once, for a known reason',
  calls: 'each tool call is answered once',
  results: 'a result is that of its tool, or says that it is unknown',
  effects: 'a finished tool call never runs again',
  head: 'the head follows its branch',
  branch: 'a fork knows its session up to its branch point',
  paused: 'a paused agent does nothing',
  crashes: 'crashes never end an agent',
  fold: 'the state of a session is the fold of its events',
  prompts: 'prompts are valid',
  prefixes: 'each prompt begins with the one before',
} as const
export type SessionLaw = (typeof LAWS)[keyof typeof LAWS]
