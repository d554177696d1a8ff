import * as z from 'zod'
import { kill } from '../../verbs/kill.ts'
import { processView, viewOf } from '../process-view.ts'
import { tool } from '../tool.ts'
import { sentenceOn } from '../words.ts'

export const processKill = tool({
  name: 'process_kill',
  title: 'End a process',
  description: [
    'Ends a process and everything it started: asks first (SIGTERM), forces after a grace, and answers when they are',
    'gone. Its output can still be read. To end all of yours at once use interrupt.',
  ].join(' '),
  input: kill.input,
  output: z.strictObject({ answer: kill.output.shape.answer, process: processView }),
  does: 'end',
  async run(asked, { perform }) {
    const { answer, record } = await perform((acting) => acting.kill(asked))
    const process = viewOf(record)
    const said = {
      ended: 'Ended. ',
      already_ended: 'It had ended before. ',
      asked: 'It was asked to end, and has not yet. ',
    }
    return { structured: { answer, process }, text: `${said[answer]}${sentenceOn(process)}` }
  },
})
