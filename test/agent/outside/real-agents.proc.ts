/**
 * Outside agents from npm, as a person starts them: `reeve agent --with <name>`, with the program on the PATH. Their model is the
 * test, on this machine. `npm run install:clients` installs them.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { installed } from '../../mcp/clients/installed.ts'
import { ScriptedModel } from '../../mcp/clients/model/scripted-model.ts'
import { TempReeve } from '../../temp-reeve.ts'
import { entries, lastTurn, pendingApproval } from './outside-agent.ts'
import { claudeCode } from './real/claude-code.ts'
import { codex } from './real/codex.ts'
import { gemini } from './real/gemini.ts'
import { opencode } from './real/opencode.ts'
import { Person } from './real/person.ts'

for (const agent of [claudeCode, codex, gemini, opencode]) {
  const found = installed({ name: agent.name, program: agent.programs })

  test(`${agent.name} asks a person once before its shell runs a command, and then the command runs once`, async ({
    skip,
  }) => {
    if (found.missing !== null) return skip(found.missing)
    await using temp = new TempReeve()
    const model = await ScriptedModel.listen(agent.wire)
    await using person = await Person.with(agent, found.command, temp, model.url)
    const pid = await person.starts(agent.name)
    const { reeve } = person
    const { tool, input } = agent.shell('echo ran >> effects')
    const called = model.call(tool, input, 'client')
    called.catch(() => {})
    // A turn that ends before it asks says why.
    const ended = lastTurn(reeve, pid).then((turn) => Promise.reject(new Error(JSON.stringify(turn))))
    ended.catch(() => {})
    const id = await Promise.race([pendingApproval(reeve), ended])
    expect(await person.types('approvals')).toContain(
      `${agent.name} asks for a permission: echo ran >> effects`,
    )
    const effects = join(person.folder, 'effects')
    expect(existsSync(effects)).toBe(false)
    await person.types('reply', id, agent.allow)
    await called
    await model.finish('It ran.')
    expect(await lastTurn(reeve, pid)).toMatchObject({ reason: 'finished', result: 'It ran.' })
    expect(readFileSync(effects, 'utf8')).toBe('ran\n')
    expect((await reeve.approvals({ state: 'any' })).approvals).toHaveLength(1)
    const log = await entries(reeve, pid)
    expect(log.filter((line) => line.startsWith('execute '))).toEqual(['execute echo ran >> effects'])
    expect(log.slice(-2)).toEqual(['text It ran.', 'turn 1 finished'])
    await person.types('agent', 'end', 'real')
  })

  const { signedOut } = agent
  if (signedOut !== null)
    test(`the first turn of ${agent.name} without a sign-in ends with how to sign in`, async ({ skip }) => {
      if (found.missing !== null) return skip(found.missing)
      await using temp = new TempReeve()
      await using person = await Person.with(agent, found.command, temp, null)
      const pid = await person.starts(agent.name)
      const turn = await lastTurn(person.reeve, pid)
      expect(turn).toMatchObject({ reason: 'setup_failed', message: expect.stringMatching(signedOut) })
      await person.types('agent', 'end', 'real')
    })
}
