import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { tempFolder } from '../temp-folder.ts'
import { TempReeve } from '../temp-reeve.ts'
import { call, ERAS } from './connected.ts'
import { reeveMcp } from './reeve-mcp.ts'

test.for(ERAS)(
  'in the %s era an agent is told that a person has been asked, and then what the person said',
  async (era) => {
    const temp = new TempReeve()
    const cwd = tempFolder()
    const client = await reeveMcp(temp, { era, cwd })
    await call(client, 'process_list', {})
    const person = await connect({ home: temp.home.folder })
    onTestFinished(() => person.close())
    await person.addRule({ rule: { effect: 'ask', resource: 'shell:touch' } })
    const file = join(cwd, 'made')
    const asked = await call<{ process: { pid: string } }>(client, 'process_start', {
      run: 'touch made',
      waitMs: 30_000,
    })
    expect(asked.text).toMatch(/waits for the approval of a person \(a_\w+, asked .* ago\): touch made/)
    expect(asked.text).toContain('A person has been asked. You will be told in the inbox.')
    expect(existsSync(file)).toBe(false)
    // The rules of the client's folder bind the session, wherever its commands run.
    expect((await person.sessions()).sessions.map(({ workspaces }) => workspaces)).toEqual([[cwd]])
    const [first] = (await person.approvals()).approvals
    await person.approve({ id: first?.id ?? '' })
    const ended = await call(client, 'process_wait', { pid: asked.structured.process.pid, timeoutMs: 30_000 })
    expect(ended.text).toContain('completed')
    expect(existsSync(file)).toBe(true)

    const again = await call<{ process: { pid: string } }>(client, 'process_start', { run: 'touch other' })
    const [second] = (await person.approvals()).approvals
    await person.deny({ id: second?.id ?? '', advice: 'One file is enough.' })
    const denied = await call(client, 'process_poll', { pid: again.structured.process.pid })
    expect(denied.text).toContain('A person denied it, so it was not started: One file is enough.')

    const third = await call<{ process: { pid: string } }>(client, 'process_start', { run: 'touch third' })
    const [edited] = (await person.approvals()).approvals
    await person.approve({ id: edited?.id ?? '', spec: { run: 'touch edited' } })
    const { pid } = third.structured.process
    const told = 'touch third [approved with changes; ran instead: touch edited]'
    expect((await call(client, 'process_wait', { pid, timeoutMs: 30_000 })).text).toContain(told)
    expect((await call(client, 'process_poll', { pid })).text).toContain(told)
    expect((await call(client, 'process_list', { status: 'any' })).text).toContain(told)
    const { text: inbox } = await call(client, 'inbox', {})
    expect(inbox).toContain(`A person approved touch third (${pid}) with changes (run) at `)
    expect(inbox).toContain('This runs instead: touch edited')

    const doubtful = await call(client, 'process_start', { run: 'node -e 1' })
    expect(doubtful.text).toMatch(
      /\[asked because of the rule r1 of home: ask execute shell:touch; it may apply, because node runs .+\]/,
    )
  },
)
