-- SPDX-License-Identifier: Apache-2.0
-- Run by test_editors.py in a window that shows broken.onnxtxt: writes what it sees as JSON.
local found = { filetype = vim.bo.filetype, commentstring = vim.bo.commentstring, groups = {} }

for _, place in ipairs({ { 7, 7 }, { 6, 9 }, { 8, 16 } }) do
  table.insert(found.groups, vim.fn.synIDattr(vim.fn.synID(place[1], place[2], 1), 'name'))
end

vim.wait(120000, function() return #vim.diagnostic.get(0) > 0 end, 50)
found.diagnostics = {}
for _, item in ipairs(vim.diagnostic.get(0)) do
  local lsp = item.user_data and item.user_data.lsp or {}
  table.insert(found.diagnostics, { lnum = item.lnum, message = item.message, code = item.code or lsp.code })
end

local params = { textDocument = vim.lsp.util.make_text_document_params(), position = { line = 6, character = 7 } }
local answers = vim.lsp.buf_request_sync(0, 'textDocument/hover', params, 120000) or {}
found.hover = vim.json and vim.json.encode(answers) or vim.fn.json_encode(answers)

local file = assert(io.open(vim.g.test_output, 'w'))
file:write(vim.fn.json_encode(found))
file:close()
vim.cmd('qall!')
