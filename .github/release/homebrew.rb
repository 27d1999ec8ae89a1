# A formula for a tap. The release fills in the addresses and checksums.
class Crdwise < Formula
  desc "Lint CRDs and review changes to them as an API server would"
  homepage "@HOMEPAGE@"
  version "@VERSION@"
  license "@LICENSE@"

  on_macos do
    # for aarch64-apple-darwin
    on_arm do
      url "@URL@"
      sha256 "@SHA256@"
    end
    # end
    # for x86_64-apple-darwin
    on_intel do
      url "@URL@"
      sha256 "@SHA256@"
    end
    # end
  end

  on_linux do
    # for aarch64-unknown-linux-musl
    on_arm do
      url "@URL@"
      sha256 "@SHA256@"
    end
    # end
    # for x86_64-unknown-linux-musl
    on_intel do
      url "@URL@"
      sha256 "@SHA256@"
    end
    # end
  end

  def install
    bin.install "crdwise"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/crdwise.bash" => "crdwise"
    zsh_completion.install "completions/_crdwise"
    fish_completion.install "completions/crdwise.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/crdwise --version")
  end
end
