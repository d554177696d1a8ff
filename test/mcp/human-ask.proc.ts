import { connect } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { tempFolder } from '../temp-folder.ts'
import { TempReeve } from '../temp-reeve.ts'
import { call, ERAS, type ShownForm } from './connected.ts'
import { reeveMcp } from './reeve-mcp.ts'

interface Asked {
  finished: boolean
  process: { pid: string; approval?: string }
}

for (const era of ERAS) {
  test(`in the ${era} era a model asks a person, goes on waiting, and reads the reply`, async () => {
    const temp = new TempReeve()
    const client = await reeveMcp(temp, { era, cwd: tempFolder() })
    const asked = await call<Asked>(client, 'human_ask', {
      question: 'Which port?',
      choices: ['80', '8080'],
      timeoutMs: 0,
    })
    expect(asked.text).toMatch(
      /^Not yet: .* waits for the reply of a person \(a_\w+, asked .*\): Which port\?/,
    )
    const { pid } = asked.structured.process
    expect(asked.text).toContain(`process_wait and pid ${pid}`)
    const person = await connect({ home: temp.home.folder })
    onTestFinished(() => person.close())
    await person.reply({ id: asked.structured.process.approval ?? '', value: '8080' })
    const ended = await call(client, 'process_wait', { pid, timeoutMs: 30_000 })
    expect(ended.text).toContain('A person replied: 8080')

    const refused = await call<Asked>(client, 'human_ask', { question: 'Delete it?', timeoutMs: 0 })
    await person.deny({ id: refused.structured.process.approval ?? '', advice: 'Ask bob.' })
    const denied = await call(client, 'process_poll', { pid: refused.structured.process.pid })
    expect(denied.text).toContain('A person refused to reply: Ask bob.')
  })

  test(`in the ${era} era the person at the client is asked in a form, once for each question`, async () => {
    const temp = new TempReeve()
    const shown: ShownForm[] = []
    const client = await reeveMcp(temp, {
      ...{ era, cwd: tempFolder(), env: { REEVE_APPROVER: 'true' } },
      person: async (form) => {
        shown.push(form)
        return { action: 'accept', content: { reply: '8080' } }
      },
    })
    const asked = await call<Asked>(client, 'human_ask', { question: 'Which port?', timeoutMs: 30_000 })
    expect(asked.text).toContain('A person replied: 8080')
    expect(shown.map(({ message }) => message.split('\n')[0])).toEqual(['Question: Which port?'])
    const { structured } = await call<{ processes: unknown[] }>(client, 'process_list', { status: 'any' })
    expect(structured.processes).toHaveLength(1)
  })
}
