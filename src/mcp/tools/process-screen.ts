import * as z from 'zod'
import { screen } from '../../verbs/screen.ts'
import { cut, PAGE_CHARS } from '../page.ts'
import { tool } from '../tool.ts'

const { cols, rows, lines, scrollback, cursor, alternate, title } = screen.output.shape

export const processScreen = tool({
  name: 'process_screen',
  title: 'See a terminal',
  description: [
    'What the terminal of a process shows now, as somebody in front of it would see it: for editors, pagers, menus,',
    'installers and other programs that paint a screen. Only for processes that were started with pty.',
    'Use process_write to press keys.',
  ].join(' '),
  input: screen.input,
  output: z.strictObject({ cols, rows, lines, scrollback, cursor, alternate, title }),
  does: 'look',
  async run(asked, { perform }) {
    const { offset: _, truncated, ...seen } = await perform((acting) => acting.screen(asked))
    const most = PAGE_CHARS + asked.scrollback * seen.cols
    const painted = [...seen.scrollback, ...seen.lines].join('\n').trimEnd()
    const where = `${seen.cols} × ${seen.rows}, cursor at row ${seen.cursor.row}, column ${seen.cursor.column}`
    const gap = truncated === null ? '' : ' [painted from what is kept of the output]'
    return { structured: seen, text: `${where}${gap}\n${cut(painted, most)}` }
  },
})
