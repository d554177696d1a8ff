import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { messages } from '../model/messages.ts'
import { TOOLS } from '../tools.ts'
import { type Driver, PLATFORM } from './driver.ts'

export const claudeCode: Driver = {
  name: 'Claude Code',
  wire: messages,
  tellsFolder: true,
  // Claude Code tells its model only the names of most tools, until the model asks for their descriptions.
  loadTools: {
    tool: 'ToolSearch',
    input: { query: `select:${TOOLS.map((name) => `mcp__reeve__${name}`).join(',')}` },
  },
  program: [`@anthropic-ai/claude-code-${PLATFORM}/claude`],
  prepare({ home, modelUrl, connection }, prompt) {
    const reeve =
      connection.type === 'http'
        ? { type: 'http', url: connection.url, headers: { Authorization: `Bearer ${connection.token}` } }
        : connection
    const claudeHome = join(home, '.claude')
    mkdirSync(claudeHome)
    const permissions = { allow: ['mcp__reeve'] }
    writeFileSync(join(claudeHome, 'settings.json'), JSON.stringify({ permissions }))
    const config = join(home, 'mcp.json')
    writeFileSync(config, JSON.stringify({ mcpServers: { reeve } }))
    return {
      args: [
        '-p',
        prompt,
        '--output-format',
        'stream-json',
        '--verbose',
        '--mcp-config',
        config,
        '--strict-mcp-config',
      ],
      env: {
        ANTHROPIC_BASE_URL: modelUrl,
        ANTHROPIC_API_KEY: 'none',
        CLAUDE_CONFIG_DIR: claudeHome,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
      },
    }
  },
}
