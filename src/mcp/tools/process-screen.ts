import * as z from 'zod'
import { screen } from '../../verbs/screen.ts'
import { processRef } from '../../verbs/shapes/scalars.ts'
import { cut, PAGE_CHARS } from '../page.ts'
import { tool } from '../tool.ts'

export const processScreen = tool({
  name: 'process_screen',
  title: 'See a terminal',
  description: [
    'Shows the terminal of a process now: for editors, pagers, menus, installers. Only for processes started with',
    'pty. Press keys with process_write.',
  ].join(' '),
  searchHint: 'terminal screen, see TUI, full-screen program, vim, menu, prompt',
  input: z.strictObject({
    pid: processRef.describe('pid or name'),
    scrollback: screen.input.shape.scrollback.describe('lines above the screen, too'),
  }),
  effect: 'read',
  async run(asked, { perform }) {
    const { offset: _, truncated, cursor, ...seen } = await perform((acting) => acting.screen(asked))
    const most = PAGE_CHARS + asked.scrollback * seen.cols
    const painted = [...seen.scrollback, ...seen.lines].join('\n').trimEnd()
    const at = { row: cursor.row + 1, column: cursor.column + 1 }
    const where = `${seen.cols} × ${seen.rows}, cursor at row ${at.row}, column ${at.column}`
    const gap = truncated === null ? '' : ' [drawn from the kept part of the output]'
    return { structured: { ...seen, cursor: at }, text: `${where}${gap}\n${cut(painted, most)}` }
  },
})
