// Loads a world with libsdformat and prints one line with the world pose of every model, collision
// and visual.
//
//   poses <folder of a world> <name> <folder of standard models, such as sun>
//
// A line is one of: model <name>, collision <model> <link> <name> <extents>, visual <model> <link>
// <name>. The position x y z and the quaternion w x y z follow. Every warning of libsdformat is an
// error.

#include <filesystem>
#include <iomanip>
#include <iostream>
#include <sdf/sdf.hh>
#include <type_traits>

namespace {

// These types come from sdf::Link, because the math library's namespace depends on libsdformat's
// version.
using Pose3d = std::decay_t<decltype(std::declval<sdf::Link>().RawPose())>;
using Vector3d = std::decay_t<decltype(std::declval<Pose3d>().Pos())>;

std::string bundle, standard;

/// Returns the path of a URI such as model://models/oval. Looks in the bundle, then in the standard
/// models. Returns an empty string if there is no such file.
std::string find(const std::string &uri) {
  const std::string scheme = "model://";
  const auto path = uri.rfind(scheme, 0) == 0 ? uri.substr(scheme.size()) : uri;
  for (const auto &root : {bundle, standard}) {
    const auto file = std::filesystem::path(root) / path;
    if (std::filesystem::exists(file)) {
      return file.string();
    }
  }
  return "";
}

bool print_errors(const sdf::Errors &errors) {
  for (const auto &error : errors) {
    std::cerr << "libsdformat: " << error << "\n";
  }
  return !errors.empty();
}

template <class Part> Pose3d pose(const Part &part) {
  Pose3d pose;
  if (print_errors(part.SemanticPose().Resolve(pose))) {
    std::exit(1);
  }
  return pose;
}

/// Full extents of a box, cylinder or sphere in metres; zero for other shapes.
Vector3d extents(const sdf::Geometry &geometry) {
  if (const auto *box = geometry.BoxShape()) {
    return box->Size();
  }
  if (const auto *cylinder = geometry.CylinderShape()) {
    return {2 * cylinder->Radius(), 2 * cylinder->Radius(), cylinder->Length()};
  }
  if (const auto *sphere = geometry.SphereShape()) {
    return Vector3d(2, 2, 2) * sphere->Radius();
  }
  return {0, 0, 0};
}

void print(const Pose3d &pose) {
  const auto &p = pose.Pos();
  const auto &q = pose.Rot();
  std::cout << " " << p.X() << " " << p.Y() << " " << p.Z() << " " << q.W() << " " << q.X() << " " << q.Y() << " "
            << q.Z() << "\n";
}

} // namespace

int main(int count, char **arguments) {
  if (count != 4) {
    std::cerr << "usage: poses <folder of a world> <name> <folder of standard models>\n";
    return 2;
  }
  bundle = arguments[1];
  standard = arguments[3];
  auto config = sdf::ParserConfig::GlobalConfig();
  config.SetFindCallback(find);
  config.SetWarningsPolicy(sdf::EnforcementPolicy::ERR);
  sdf::Root root;
  if (print_errors(root.Load(bundle + "/worlds/" + arguments[2] + ".world", config))) {
    return 1;
  }
  if (root.WorldCount() != 1) {
    std::cerr << "the file must contain exactly one world\n";
    return 1;
  }
  std::cout << std::setprecision(17);
  const auto *world = root.WorldByIndex(0);
  for (uint64_t m = 0; m < world->ModelCount(); ++m) {
    const auto *model = world->ModelByIndex(m);
    const auto at_model = pose(*model);
    std::cout << "model " << model->Name();
    print(at_model);
    for (uint64_t l = 0; l < model->LinkCount(); ++l) {
      const auto *link = model->LinkByIndex(l);
      const auto at_link = at_model * pose(*link);
      for (uint64_t c = 0; c < link->CollisionCount(); ++c) {
        const auto *collision = link->CollisionByIndex(c);
        const auto size = extents(*collision->Geom());
        std::cout << "collision " << model->Name() << " " << link->Name() << " " << collision->Name() << " " << size.X()
                  << " " << size.Y() << " " << size.Z();
        print(at_link * pose(*collision));
      }
      for (uint64_t v = 0; v < link->VisualCount(); ++v) {
        const auto *visual = link->VisualByIndex(v);
        std::cout << "visual " << model->Name() << " " << link->Name() << " " << visual->Name();
        print(at_link * pose(*visual));
      }
    }
  }
  return 0;
}
