// What differs between two canonical plans, for people. It reads the text, because of the stored
// plan there is only text.
#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "plan/plan.h"

namespace weir::plan {
namespace {

struct Item {
  std::string key;
  std::string value;
};

struct NodeLine {
  std::string name;
  std::vector<Item> items;
};

std::string Unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    ++i;
    out += text[i] == 't' ? '\t' : text[i] == 'n' ? '\n' : text[i];
  }
  return out;
}

std::vector<NodeLine> Parse(std::string_view canonical) {
  std::vector<NodeLine> lines;
  for (const std::string_view line : Split(canonical, '\n')) {
    if (line.empty()) continue;
    NodeLine node;
    bool first = true;
    for (const std::string_view field : Split(line, '\t')) {
      if (first) {
        node.name = Unescaped(field);
        first = false;
        continue;
      }
      const size_t equals = std::min(field.find('='), field.size());
      const size_t value = std::min(equals + 1, field.size());
      node.items.push_back({Unescaped(field.substr(0, equals)), Unescaped(field.substr(value))});
    }
    lines.push_back(std::move(node));
  }
  return lines;
}

const NodeLine* FindNode(const std::vector<NodeLine>& nodes, std::string_view name) {
  for (const NodeLine& node : nodes) {
    if (node.name == name) return &node;
  }
  return nullptr;
}

const Item* FindItem(const NodeLine& node, std::string_view key) {
  for (const Item& item : node.items) {
    if (item.key == key) return &item;
  }
  return nullptr;
}

// "window:counts" -> "window counts".
std::string Shown(std::string name) {
  const size_t colon = name.find(':');
  if (colon != std::string::npos) name[colon] = ' ';
  return name;
}

bool TakePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// How a key is called in a sentence: "column v" -> "column v", "project 2 total" -> "output column
// total".
std::string Noun(std::string_view key) {
  if (TakePrefix(key, "project ")) {
    return "output column " + std::string(key.substr(std::min(key.find(' '), key.size() - 1) + 1));
  }
  if (TakePrefix(key, "aggregate ")) return "aggregate";
  if (TakePrefix(key, "key ")) return "primary key column " + std::string(key);
  return std::string(key);
}

// What follows the type of a column: " METADATA FROM ..", " AS ..".
std::string_view TypePart(std::string_view value) {
  return value.substr(0, std::min(value.find(" METADATA "), value.find(" AS ")));
}

std::string Changed(const Item& old_item, const Item& new_item) {
  std::string_view key = new_item.key;
  if (key == "filter") return "filter changed";
  if (TakePrefix(key, "column ") && TypePart(old_item.value) != TypePart(new_item.value)) {
    return "type of " + std::string(key) + " " + std::string(TypePart(old_item.value)) + " -> " +
           std::string(TypePart(new_item.value));
  }
  if (new_item.key.starts_with("project ")) return Noun(new_item.key) + " is computed differently";
  return Noun(new_item.key) + " " + old_item.value + " -> " + new_item.value;
}

std::string Presence(const Item& item, const char* word) {
  const bool has_text = item.key.starts_with("aggregate ") || item.key.starts_with("input ");
  return Noun(item.key) + (has_text ? " " + item.value : "") + " " + word;
}

void CompareNodes(const NodeLine& stored, const NodeLine& current, std::vector<std::string>& out) {
  std::string text;
  const auto add = [&](const std::string& what) {
    text += text.empty() ? Shown(current.name) + ": " + what : "; " + what;
  };
  for (const Item& old_item : stored.items) {
    const Item* new_item = FindItem(current, old_item.key);
    if (new_item == nullptr) {
      add(Presence(old_item, "removed"));
    } else if (new_item->value != old_item.value) {
      add(Changed(old_item, *new_item));
    }
  }
  for (const Item& new_item : current.items) {
    if (FindItem(stored, new_item.key) == nullptr) add(Presence(new_item, "added"));
  }
  if (!text.empty()) out.push_back(std::move(text));
}

}  // namespace

std::string DescribeDifference(std::string_view stored_canonical,
                               std::string_view current_canonical) {
  const std::vector<NodeLine> stored = Parse(stored_canonical);
  const std::vector<NodeLine> current = Parse(current_canonical);
  std::vector<std::string> parts;
  for (const NodeLine& node : stored) {
    if (const NodeLine* now = FindNode(current, node.name)) {
      CompareNodes(node, *now, parts);
    } else {
      parts.push_back(Shown(node.name) + " removed");
    }
  }
  for (const NodeLine& node : current) {
    if (FindNode(stored, node.name) == nullptr) parts.push_back(Shown(node.name) + " added");
  }
  if (parts.empty()) return "the nodes stand in another order";
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ". ") + part;
  return out;
}

}  // namespace weir::plan
