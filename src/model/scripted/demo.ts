import type { Script } from './script.ts'

/** The tools that the demo calls: those of a coding agent. */
const READ = 'read_file'
const EDIT = 'edit_file'
const RUN = 'run_command'

/** The file that the demo repairs, with its defect and the repair. */
const FILE = 'sum.js'
const DEFECT = 'return a - b'
const REPAIR = 'return a + b'
const TEST = 'node --test'

const NO_DELAY = { afterMs: 0, fragmentMs: 0 }
const SHORT_DELAYS = { afterMs: 150, fragmentMs: 20 }

/**
 * `scripted/demo`: a small coding session without a key. It reads a file, runs the tests, corrects the file, runs them again, and says what it
 * did. In a folder without that file it says so, instead of pretending.
 */
export const DEMO_SCRIPT: Script = {
  replies: [
    {
      when: { tool: READ, isError: true },
      answer: {
        ...NO_DELAY,
        parts: [
          {
            text: `I am a script, and I can repair one thing only: the sum in ${FILE}, which is not in this folder. Set a key and choose a model to work on this one.`,
          },
        ],
      },
    },
  ],
  answers: [
    {
      ...SHORT_DELAYS,
      parts: [
        { thinking: 'The tests say what is expected. The code first.' },
        { text: `I read \`${FILE}\` first.` },
        { tool: READ, input: { path: FILE } },
      ],
    },
    {
      ...SHORT_DELAYS,
      parts: [{ text: 'Now the tests.' }, { tool: RUN, input: { command: TEST } }],
    },
    {
      ...SHORT_DELAYS,
      parts: [
        { thinking: 'It subtracts where the test expects a sum.' },
        { text: '`sum` subtracts. I correct that.' },
        { tool: EDIT, input: { path: FILE, edits: [{ oldText: DEFECT, newText: REPAIR }] } },
      ],
    },
    {
      ...SHORT_DELAYS,
      parts: [{ text: 'And the tests again.' }, { tool: RUN, input: { command: TEST } }],
    },
    {
      ...SHORT_DELAYS,
      parts: [{ text: `Done: \`sum\` in \`${FILE}\` adds now, and the tests pass.` }],
    },
  ],
  atEnd: 'repeat',
}
